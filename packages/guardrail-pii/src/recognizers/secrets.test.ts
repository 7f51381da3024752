import { describe, expect, it } from 'vitest'
import { findPii } from '../index.ts'

const entities = ['secrets']
const found = (text: string): string[] =>
  findPii(text, { entities }).map(({ start, end }) => text.slice(start, end))

const random = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0'
const hex = '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c'

describe('what vendors give out', () => {
  // In two parts, so that nobody who scans this repository takes them for keys of somebody.
  it.for([
    ['AKIA', 'Q3EGRIBNZ7TAK2XY'],
    ['AIza', `Sy${random.slice(0, 33)}`],
    ['ghp_', random.slice(0, 36)],
    ['github_pat_', random],
    ['glpat-', random.slice(0, 20)],
    ['xoxb-', `123456789012-${random.slice(0, 24)}`],
    ['sk_live_', random.slice(0, 24)],
    ['sk-proj-', random],
    ['sk-ant-api03-', random],
    ['SG.', `${random.slice(0, 22)}.${random}abc`],
    ['SK', hex.slice(0, 32)],
    ['npm_', random.slice(0, 36)],
    ['pypi-AgEIcHlwaS5vcmc', random],
    ['hf_', random.slice(0, 34)],
    ['dckr_pat_', random.slice(0, 27)],
    ['shpat_', hex.slice(0, 32)],
    ['dapi', hex.slice(0, 32)],
    ['hvs.', random],
    ['7213808860:AA', random.slice(0, 33)],
    // The rules of another tool: the recommended preset of secretlint 12.
    ['vcp_', random.slice(0, 24)],
    ['gho_', random.slice(0, 36)],
    ['ghr_', random.slice(0, 36)],
    ['shppa_', hex.slice(0, 32)],
    ['figd_', random],
    ['glc_', `${random}${random}=`],
    ['glsa_', `${random.slice(0, 32)}_${hex.slice(0, 8)}`],
    ['gsk_', random + random.slice(0, 12)],
    ['hvb.', random + random],
    ['hvr.', random + random],
    ['lin_api_', random],
    ['ntn_', `12345678901${random.slice(0, 35)}`],
    ['ops_eyJ', random + random],
    ['sk-svcacct-', random + random],
    ['xapp-1-', `A0123456789-1234567890123-${hex}`],
    // By the documentation of their makers.
    ['sbp_', hex],
    ['sb_secret_', random.slice(0, 31)],
    ['nfp_', random.slice(0, 36)],
    ['rnd_', random.slice(0, 28)],
    ['napi_', `${hex}${hex}`.slice(0, 64)],
    ['re_', `${random.slice(0, 8)}_${random.slice(0, 24)}`],
    [
      'sk-lf-',
      `${hex.slice(0, 8)}-${hex.slice(0, 4)}-4${hex.slice(0, 3)}-${hex.slice(0, 4)}-${hex.slice(0, 12)}`,
    ],
    ['pat', `${random.slice(0, 14)}.${hex}${hex.slice(0, 24)}`],
    ['CFPAT-', random + random.slice(0, 3)],
    ['hcaik_', `${hex}${hex.slice(0, 18)}`],
    ['phx_', random],
    ['bkua_', hex],
    ['CCIPAT_', `${random.slice(0, 22)}_${hex}`],
    ['rzp_live_', random.slice(0, 14)],
    [
      'pat-na1-',
      `${hex.slice(0, 8)}-${hex.slice(0, 4)}-4${hex.slice(0, 3)}-${hex.slice(0, 4)}-${hex.slice(0, 12)}`,
    ],
    ['oy2', `${hex}a1b`],
    ['cio', random.slice(0, 32)],
    ['AKID', random.slice(0, 32)],
    ['AQVN', random.slice(0, 36)],
    ['eyJhbGciOiJIUzI1NiJ9.', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVPmB92K27u'],
  ])('%s…', ([prefix, rest]) => {
    const key = prefix! + rest!

    expect(found(`use ${key} now`)).toEqual([key])
    expect(found(`{"k":"${key}"}`)).toEqual([key])
    expect(found(`x${key}`)).not.toEqual([key])
  })

  it('a private key, to its end or as far as it goes', () => {
    const head = '-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcN\n'
    const whole = `${head}-----END RSA PRIVATE KEY-----`

    expect(found(`a\n${whole}\nand more`)).toEqual([whole])
    expect(found(`${head}§`)).toEqual([head])
    expect(found('-----BEGIN CERTIFICATE-----\nMIIBOgIBAAJBAKj34GkxFhD90vcN')).toEqual([])
  })
})

describe('what a text says is a secret', () => {
  it.for([
    ['password = "tr0ub4dor&3"', 'tr0ub4dor&3'],
    ['DB_PASSWORD=q1w2e3r4t5', 'q1w2e3r4t5'],
    [`"api_key": "${random}"`, random],
    [`var apiToken string = "${random}"`, random],
    [`System.setProperty("ACCESS_TOKEN", "${random}")`, random],
    [`<apiKey>\n    ${random}\n</apiKey>`, random],
    [`client-secret: ${random}`, random],
    ['The password is Xy7bananaQ.', 'Xy7bananaQ.'],
    [`Authorization: Bearer ${random}`, random],
    ['curl -u admin:hunter2pw https://api.example.com', 'admin:hunter2pw'],
    ['postgres://app:s3cr3tpw@db.example.com/main', 'app:s3cr3tpw'],
    ['https://user:pass@example.com', 'user:pass'],
    [`https://ghp_${random.slice(0, 36)}@github.com/a/b.git`, `ghp_${random.slice(0, 36)}`],
    [`https://glpat-${random.slice(0, 20)}@gitlab.com/a.git`, `glpat-${random.slice(0, 20)}`],
    ['my password is hunter2x9', 'hunter2x9'],
    ['machine a.example.com login ann password pass123', 'pass123'],
    ['curl --user  admin:hunter2pw https://a.example.com', 'admin:hunter2pw'],
    [`curl -u "${random}:" https://a.example.com`, `${random}:`],
    [`mysql -h db -u root -pTr0ub4dor shop`, 'Tr0ub4dor'],
    ['docker login -u ann -p Tr0ub4dor registry.example.com', 'Tr0ub4dor'],
    [`$2b$12$${random}abcdefghijklm`, `$2b$12$${random}abcdefghijklm`],
    [`root:$6$saltsalt$${random}${random}abcdef:1`, `$6$saltsalt$${random}${random}abcdef`],
    [`password:            ${random}`, random],
  ])('%s', ([text, expected]) => {
    expect(found(text!)).toEqual([expected])
  })

  it.for([
    'password = os.environ["PASSWORD"]',
    'password: ********',
    'api_key: <your key>',
    'apiKey: ${API_KEY}',
    'token_count: 1024',
    'The secret is patience.',
    'the password is wrong',
    'Basic understanding, bearer of news',
    'git commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    'curl https://example.com:8080/a',
    'https://example.com/@user:name',
    '{"idempotency_key":"order-1234-abc"}',
    '{"partitionKey":"tenant-2024-abc1"}',
    '{"sort_key":"user-1234-abcd"}',
    '{"cache-key":"user-1234-abcd"}',
    '{"page_token":"CAUQAA1234abcdEF"}',
    '{"nextPageToken":"CAUQAA1234abcdEF"}',
    '{"public_key":"order-1234-abc"}',
    '{"turkey":"Istanbul-Ankara-2024"}',
    '{"secretary":"Jane-Doe-2024"}',
    '{"tokenizer":"cl100k-base-2024"}',
    '{"client_id":"web-app-1234-abc"}',
    '{"max_tokens":"order-1234-abc"}',
    '{"token_type":"order-1234-abc"}',
    'mkdir -p src1/generated2',
  ])('and not: %s', (text) => {
    expect(found(text)).toEqual([])
  })
})

describe('secrets that people and programs write down', () => {
  const read = (text: string): readonly string[] =>
    findPii(text, { entities: ['secret'] }).map(({ start, end }) => text.slice(start, end))

  it.each([
    ['pw: hunter22x', 'hunter22x'],
    ['The router, pass: Tr0ub4dor&3', 'Tr0ub4dor&3'],
    ['Auth: k3yJ9sQ2mZ7pL5xW', 'k3yJ9sQ2mZ7pL5xW'],
    ["CREATE USER 'ada' IDENTIFIED BY 'brass-kettle';", 'brass-kettle'],
    ["ALTER ROLE ada WITH PASSWORD 'brass-kettle';", 'brass-kettle'],
    ['{"auths":{"r.example":{"auth":"YWRhOmJyYXNzLWtldHRsZQ=="}}}', 'YWRhOmJyYXNzLWtldHRsZQ=='],
    ['db.example:5432:shop:ada:k3ttle-brass', 'k3ttle-brass'],
    ["CREATE USER ada IDENTIFIED BY 'BrassKettle'", 'BrassKettle'],
    ["CREATE LOGIN ada WITH PASSWORD = N'Br4ss!Kettle';", 'Br4ss!Kettle'],
    ['data:\n  password: YnJhc3Mta2V0dGxl\n', 'YnJhc3Mta2V0dGxl'],
    ['kind: Secret\ndata:\n  db: YnJhc3Mta2V0dGxl\n', 'YnJhc3Mta2V0dGxl'],
    ['requirepass k3ttle-brass', 'k3ttle-brass'],
    ['kubeadm join 10.0.0.1:6443 --token k3y9sq.2mz7pl5xwk3y9sq2', 'k3y9sq.2mz7pl5xwk3y9sq2'],
    [`GEMINI=AQ.Ab8R${random}abcd`, `AQ.Ab8R${random}abcd`],
    [`dtn_${hex}${hex.slice(0, 24)}`, `dtn_${hex}${hex.slice(0, 24)}`],
    [
      `pk_12345678_${random.slice(0, 32).toUpperCase()}`,
      `pk_12345678_${random.slice(0, 32).toUpperCase()}`,
    ],
    [
      `docker swarm join --token SWMTKN-1-3pu6hszjas19xyp7ghgosyx9k8atbfcr8p2is99znpy26u2lkl-7p73s1dx5in4tatdymyhg9hu2 10.0.0.1:2377`,
      'SWMTKN-1-3pu6hszjas19xyp7ghgosyx9k8atbfcr8p2is99znpy26u2lkl-7p73s1dx5in4tatdymyhg9hu2',
    ],
    [`export E2B=e2b_${'0f9d8c7b6a'.repeat(4)}`, `e2b_${'0f9d8c7b6a'.repeat(4)}`],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual([value])
  })

  it.each([
    'aws_access_key_id = AKIAIOSFODNN7EXAMPLE',
    'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'OPENAI_API_KEY=sk-1234567890abcdef1234567890abcdef',
    'pass: 12, fail: 3',
    'auth: oauth2',
    "WITH PASSWORD '<your password>'",
    "IDENTIFIED BY 'password'",
    'data:\n  replicas: ConfigurationOfSomething',
    'docker run --token abcdef.0123456789abcdef',
    '"auth": "required"',
    'src:12:error:in:something',
  ])('%s is none', (text) => {
    expect(read(text)).toEqual([])
  })
})
