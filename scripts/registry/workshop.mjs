// Folders, commands and packages, for the parts of the registry test.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What the parts share: a folder outside the repository, and a registry. */
export class Workshop {
  constructor({ folder, registry, root }) {
    this.folder = folder
    this.registry = registry
    this.root = root
    this.node = join(root, 'node_modules', '.bin', 'node')
  }

  /** Makes a folder of an application, with these files. */
  app(name, files = {}) {
    const folder = join(this.folder, name)
    mkdirSync(folder, { recursive: true })
    const manifest = { name, version: '0.0.0', private: true, type: 'module' }
    for (const [file, text] of Object.entries({
      'package.json': JSON.stringify(manifest),
      ...files,
    })) {
      writeFileSync(join(folder, file), text)
    }
    this.settings(folder)
    return folder
  }

  /** Lets npm in this folder use the registry. */
  settings(folder) {
    const { host } = new URL(this.registry)
    const lines = [
      `registry=${this.registry}`,
      // npm wants a token to publish; whose it is does not matter here.
      `//${host}/:_authToken=anybody`,
      ...['audit', 'fund', 'update-notifier'].map((setting) => `${setting}=false`),
    ]
    writeFileSync(join(folder, '.npmrc'), `${lines.join('\n')}\n`)
  }

  install(folder, ...packages) {
    return this.run('npm', ['install', '--loglevel=error', ...packages], { cwd: folder })
  }

  /** Runs a TypeScript or JavaScript file of an application, with the Node of the workspace. */
  program(folder, file, env = {}) {
    return this.run(this.node, ['--disable-warning=ExperimentalWarning', file], {
      cwd: folder,
      env,
    })
  }

  /** Checks the types of a file of an application. */
  compile(folder, file) {
    const bin = join(this.root, 'node_modules', '.bin', 'tsc')
    const types = join(this.root, 'node_modules', '@types')
    const flags = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--module',
      'nodenext',
      '--target',
      'es2023',
    ]
    return this.run(
      bin,
      [
        ...flags,
        '--lib',
        'es2023,esnext.disposable',
        '--typeRoots',
        types,
        '--types',
        'node',
        file,
      ],
      { cwd: folder },
    )
  }

  /** Resolves to what the command printed; rejects with it if the command fails. */
  async run(command, args, options = {}) {
    const { code, output } = await this.attempt(command, args, options)
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${output}`)
    return output
  }

  attempt(command, args, { cwd, env = {}, timeoutMs = 300_000 } = {}) {
    const own = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) =>
          !/^(npm_|pnpm_|NODE_OPTIONS|INIT_CWD|OPENAI_|ANTHROPIC_|AZURE_OPENAI_|GEMINI_|GOOGLE_)/i.test(
            name,
          ),
      ),
    )
    const child = spawn(command, args, {
      cwd,
      env: { ...own, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => resolve({ code: code ?? signal, output }))
    })
  }

  /** Publishes a tarball or a folder. */
  publish(what) {
    const from = this.app('publisher')
    return this.run('npm', ['publish', what, '--loglevel=error', '--access=public'], { cwd: from })
  }

  /** The same package under another version, as a folder that can be published. */
  reversion(packed, version, change = (manifest) => manifest) {
    const folder = join(this.folder, `${packed.name.replaceAll('/', '-')}-${version}`)
    cpSync(packed.folder, folder, { recursive: true })
    const file = join(folder, 'package.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify(change({ ...manifest, version }), null, 2))
    return folder
  }
}

/** Names and versions of what is installed in an application, nested copies too. */
export function installed(folder) {
  const found = []
  const visit = (modules) => {
    if (!existsSync(modules)) return
    for (const name of readdirSync(modules)) {
      if (name.startsWith('.')) continue
      if (name.startsWith('@')) {
        for (const sub of readdirSync(join(modules, name))) add(join(modules, name, sub))
      } else add(join(modules, name))
    }
  }
  const add = (place) => {
    const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
    const { name, version, engines, dependencies, optionalDependencies } = manifest
    const { peerDependencies = {} } = manifest
    // npm installs peers, too, unless they are marked as optional.
    const peers = Object.keys(peerDependencies).filter(
      (peer) => manifest.peerDependenciesMeta?.[peer]?.optional !== true,
    )
    const own = Object.keys({ ...dependencies, ...optionalDependencies })
    found.push({ name, version, engines, dependencies: [...own, ...peers] })
    visit(join(place, 'node_modules'))
  }
  visit(join(folder, 'node_modules'))
  return found
}
