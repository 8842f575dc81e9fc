// Plain JavaScript that older versions of Node can run.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Set for the process that `runOnInstalledNode` starts; main.js looks for it. */
const launcherVariable = 'POUNCE_LAUNCHER'

/** On Linux x64 package.json installs the package under the name of npm's `node`, so that other programs find `node_modules/node/bin/node`. */
const packageName = (platform, arch) => (platform === 'linux' && arch === 'x64' ? 'node' : `node-${platform}-${arch}`)

/** The Node binary that npm installed as an optional dependency. */
const installedNode = () => {
  const isWindows = process.platform === 'win32'
  try {
    const name = packageName(isWindows ? 'win' : process.platform, process.arch)
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    const path = join(dirname(manifest), 'bin', isWindows ? 'node.exe' : 'node')
    return existsSync(path) && path !== process.execPath ? path : undefined
  } catch {
    return undefined
  }
}

/**
 * For a process that `runOnInstalledNode` started: ends it when the launcher has ended. A launcher that is killed cannot forward the
 * signal, and a server that goes on would keep its port and data folder.
 */
export const endWithLauncher = () => {
  delete process.env[launcherVariable]
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  process.channel?.unref()
}

/** Reruns this command line with the installed Node and exits with its status. Resolves to false if none is installed. */
export const runOnInstalledNode = async () => {
  const node = installedNode()
  if (node === undefined) return false
  const child = spawn(node, ['--max-semi-space-size=8', ...process.argv.slice(1)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [launcherVariable]: 'yes' },
  })
  // A terminal sends the interrupt to both processes, and a second signal would end the server immediately.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (...ended) => resolve(ended))
  })
  process.exit(code ?? (signal === null ? 1 : 128))
}
