import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../', import.meta.url))
const run = promisify(execFile)

/** Addresses of the servers of `test/servers.compose.yml`, by the environment variable that tests read. */
const addresses: Readonly<Record<string, { readonly service: string; readonly port: number; readonly url: (at: string) => string }>> = {
  POUNCE_TEST_MONGODB_URL: { service: 'mongodb', port: 27017, url: at => `mongodb://${at}/` },
  POUNCE_TEST_S3_URL: { service: 's3', port: 7070, url: at => `http://${at}` },
  POUNCE_TEST_ELASTICSEARCH_URL: { service: 'elasticsearch', port: 9200, url: at => `http://${at}` },
  POUNCE_TEST_RABBITMQ_URL: { service: 'rabbitmq', port: 5672, url: at => `amqp://guest:guest@${at}/` },
  POUNCE_TEST_RABBITMQ_MANAGEMENT_URL: { service: 'rabbitmq', port: 15672, url: at => `http://guest:guest@${at}` },
  POUNCE_TEST_POSTGIS_URL: { service: 'postgis', port: 5432, url: at => `postgres://postgres@${at}/postgres` },
}

const compose = ['compose', '-f', 'test/servers.compose.yml']

const shown = async (command: string, words: readonly string[], env = process.env): Promise<number> => {
  const child = spawn(command, words, { cwd: root, env, stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}

const environment = async (): Promise<NodeJS.ProcessEnv> => {
  const found = { ...process.env }
  for (const [variable, { service, port, url }] of Object.entries(addresses)) {
    const { stdout } = await run('docker', [...compose, 'port', service, String(port)], { cwd: root })
    found[variable] = url(stdout.trim())
  }
  return found
}

/** Runs the live tests, or those named on the command line, against running servers. */
const runTests = async (): Promise<number> => {
  const named = process.argv.slice(2)
  const all = await Array.fromAsync(glob('{core,plugins,sdk,test}/**/*.live.test.ts', { cwd: root }))
  return shown(process.execPath, ['scripts/test.ts', ...(named.length > 0 ? named : all.sort())], await environment())
}

const takeDown = (): Promise<number> => shown('docker', [...compose, 'down', '--volumes', '--timeout', '5'])

// The children also receive the signal and exit; this process remains to stop the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
const isUp = await shown('docker', [...compose, 'up', '--detach', '--wait']).catch((error: unknown) => {
  process.stderr.write(`Docker is not available: ${error instanceof Error ? error.message : error}\n`)
  return 1
})
try {
  if (isUp === 0) process.exitCode = await runTests()
  else {
    process.stderr.write('Docker Compose failed to start the servers; to use other servers, set POUNCE_TEST_…_URL and run `npm test`\n')
    process.exitCode = isUp
  }
} finally {
  await takeDown().catch(() => 1)
}
