/**
 * Forms of vendors' keys and tokens, mostly by their prefix. Grouped to keep each pattern small; `secrets.ts` checks
 * the text around a token.
 */
export const vendorSecrets: readonly string[] = [
  // Clouds
  String.raw`(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}`,
  String.raw`ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-[A-Za-z0-9+/]{20,}={0,2}|amzn\.mws\.[0-9a-f-]{36}`,
  String.raw`AIza[\w-]{35}|AQ\.Ab8[\w-]{40,60}|ya29\.[\w.-]{20,}|GOCSPX-[\w-]{28}|LTAI[A-Za-z0-9]{17,21}`,
  String.raw`[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}|do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}(?:-\d)?`,
  String.raw`(?:cfat|cfut|cfk)_[A-Za-z0-9_-]{20,}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}|fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{40,}={0,3}`,
  String.raw`HRKU-[\w-]{40,}|vc[a-z]_[A-Za-z0-9]{24,}|tk-us-[\w-]{48}|fio-u-[\w=-]{64}|LKAQ[A-Za-z0-9]{16,}`,
  // Code and packages
  String.raw`gh[oprsu]_[A-Za-z0-9]{36,255}|ghs_\d{1,12}_eyJ[\w.-]{20,}|github_pat_\w{22,255}`,
  String.raw`gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|rtr|soat|wt)-[\w-]{18,300}(?:\.[\w-]{2,20}){0,2}|GR1348941[\w-]{20,}|_gitlab_session=[0-9a-z]{32}`,
  String.raw`npm_[A-Za-z0-9]{36}|pypi-AgE[\w-]{40,}|rubygems_[0-9a-f]{48}|CLOJARS_[A-Za-z0-9]{60}|dckr_(?:pat|oat)_[\w-]{20,}|AP[\dABCDEF][A-Za-z0-9]{10,}|AKC[A-Za-z0-9]{10,}`,
  String.raw`sgp_(?:[0-9a-fA-F]{16}_|local_)?[0-9a-fA-F]{40}|sntr(?:ys_eyJ[\w=+/-]{40,}|yu_[0-9a-f]{64})|sq[aup]_[0-9a-f]{40}|pul-[0-9a-f]{40}|tfp_[\w-]{40,}|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}`,
  String.raw`ATATT3[\w=-]{100,}|ATCTT3[\w=-]{100,}|BBDC-[\w+/@]{40,}|lin_(?:api|oauth)_[A-Za-z0-9]{32,64}|ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43}|fig[dour]{1,2}_[\w-]{36,}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
  // Chat
  String.raw`xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,400}|xapp-\d-[A-Z0-9]{6,}-\d{6,}-[a-z0-9]{30,}`,
  String.raw`\d{5,16}:AA[\w-]{32,34}|[A-Za-z0-9_-]{23,28}\.[\w-]{6,7}\.[\w-]{27,45}|mfa\.[\w-]{84}`,
  // Models
  String.raw`sk-(?:proj|svcacct|admin|ant|or|lf|None)[a-z\d]*-[\w-]{16,300}|sk-[A-Za-z0-9]{20,100}|sess-[A-Za-z0-9]{40}`,
  String.raw`hf_[A-Za-z0-9]{30,40}|api_org_[A-Za-z0-9]{30,40}|gsk_[A-Za-z0-9]{40,60}|pplx-[A-Za-z0-9]{40,60}|xai-[A-Za-z0-9]{60,90}|r8_[A-Za-z0-9]{37}|ls(?:v2)?_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|sk_[0-9a-f]{48}|AIzaSy[\w-]{33}|pcsk_[\w]{40,}|tvly-[\w-]{20,}|nvapi-[\w-]{60,}`,
  // Payment and shops
  String.raw`[rs]k_(?:live|test|prod)_[A-Za-z0-9]{10,200}|whsec_[A-Za-z0-9+/=]{24,}|sq0(?:atp|csp|idp)-[\w-]{22,43}|EAAA[\w-]{56,64}|shp(?:at|ca|pa|ss|tka)_[A-Za-z0-9]{32,64}`,
  String.raw`shippo_(?:live|test)_[0-9a-f]{40}|EZ[AT]K[A-Za-z0-9]{54}|FLWSECK_TEST-[0-9a-h]{12}|FLWSECK_TEST-[0-9a-h]{32}-X|duffel_(?:live|test)_[\w=-]{43}|access-(?:sandbox|development|production)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}`,
  // Mail and messages
  String.raw`SG\.[\w-]{16,32}\.[\w-]{16,64}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}|(?:SK|AC)[0-9a-f]{32}|xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}|pubkey-[0-9a-f]{32}`,
  // Monitoring, secrets and networks
  String.raw`gl(?:c|sa)_[A-Za-z0-9+/=_]{20,500}|dt0[a-z]\d\d\.[A-Z0-9a-z]{24}\.[A-Z0-9a-z]{64}|NR(?:AK|II|JS|SP)-[A-Za-z0-9_-]{19,40}|sumo_[\w-]{30,}|dd[a-z]_[A-Za-z0-9]{30,}`,
  String.raw`hv[brs]\.[\w-]{24,300}|s\.[A-Za-z0-9]{24}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}|ops_eyJ[\w+/=-]{40,}|AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`,
  String.raw`tskey-(?:[a-z]+-)?[A-Za-z0-9]{10,}(?:-[A-Za-z0-9]{10,})?|dp\.(?:ct|pt|sa|scim|audit)\.[\w.-]{40,}|pat\.[\w-]{20,24}\.[0-9a-z]{20,24}\.[0-9a-zA-Z]{20}|ico-[A-Za-z0-9]{32}|API-[A-Z0-9]{26}|pnu_[A-Za-z0-9]{36}|pscale_(?:tkn|pw|oauth)_[\w=.-]{30,64}|rdme_[a-z0-9]{70}|s-s4t2(?:ud|af)-[0-9a-f]{64}|sm_[ap]at_[A-Za-z0-9]{16}|sm_sat_[A-Za-z0-9]{16}|p8e-[0-9a-z]{32}`,
  // Further vendors, by their documentation
  String.raw`sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,}|nfp_[A-Za-z0-9]{36,40}|rnd_[A-Za-z0-9]{28,}|napi_[a-z0-9]{60,}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|sk-lf-[0-9a-f-]{36}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|CFPAT-[\w-]{43}`,
  String.raw`hc[abc]ik_[a-z0-9]{58}|ph[cx]_[A-Za-z0-9]{40,}|bkua_[a-z0-9]{40}|CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}|rzp_(?:live|test)_[A-Za-z0-9]{14}|pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|oy2[a-z0-9]{43}|cio[A-Za-z0-9]{32}|AKID[A-Za-z0-9]{32}|AQVN[\w-]{35,38}`,
  String.raw`SWMTKN-1-[a-z0-9]{49,50}-[a-z0-9]{25}|SWMKEY-1-[A-Za-z0-9+/]{43}|csk-[a-z0-9]{40,60}|fw_[A-Za-z0-9]{22,40}|tgp_v1_[\w-]{40,}|fc-[0-9a-f]{32}|jina_[0-9a-f]{32}[\w-]{20,}|e2b_[0-9a-f]{40}|llx-[A-Za-z0-9]{40,}|dtn_[0-9a-f]{64}|pdl_(?:live|sdbx)_apikey_01[a-z0-9]{24}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}|pk_\d{5,12}_[A-Z0-9]{32}|polar_(?:oat|pat)_[A-Za-z0-9]{30,}|rpa_[A-Z0-9]{30,}|sk-helicone-[\w-]{20,}`,
  // Tokens of several vendors
  String.raw`ey[A-Za-z0-9]{15,}\.ey[A-Za-z0-9/\\_-]{15,}(?:\.[A-Za-z0-9/\\_-]{0,2000})?={0,2}|EAA[A-Z][A-Za-z0-9]{90,}|\d{15,16}\|[\w-]{27,40}|A{20,24}[A-Za-z0-9%]{60,120}|[sp]k\.eyJ[\w-]{20,}\.[\w-]{20,}|pk\.[a-z0-9]{60}\.[a-z0-9]{22}|sha256~[\w-]{43}|[A-Za-z0-9_]{6}_[A-Za-z0-9]{29}_mmk`,
]
