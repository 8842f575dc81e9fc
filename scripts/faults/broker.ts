import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const script = join(import.meta.dirname, '../../../shared/svc/rabbitmq.sh')

/** A private RabbitMQ that can be killed and restarted on its data. */
export interface OwnBroker {
  readonly url: string
  readonly managementUrl: string
  kill(): Promise<void>
  start(): Promise<void>
  end(): Promise<void>
}

const isFree = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })

/** The first of the four consecutive ports that the broker uses. */
const freePorts = async (): Promise<number> => {
  for (;;) {
    // Below the ephemeral range: an outgoing connection on one of the ports would prevent the restart of a killed broker.
    const first = 20_000 + Math.floor(Math.random() * 12_000)
    const free = await Promise.all([0, 1, 2, 3].map(n => isFree(first + n)))
    if (free.every(Boolean)) return first
  }
}

/** Starts a broker with the service scripts next to the project; throws if these do not exist. */
export const ownBroker = async (): Promise<OwnBroker> => {
  if (!existsSync(script)) throw new Error(`${script}, which starts the broker, does not exist`)
  const folder = await mkdtemp(join(tmpdir(), 'pounce-broker-'))
  const port = await freePorts()
  const start = async (): Promise<void> => {
    await run(script, ['start', folder, String(port)], { timeout: 120_000 })
  }
  await start()
  return {
    url: `amqp://guest:guest@127.0.0.1:${port}/`,
    managementUrl: `http://guest:guest@127.0.0.1:${port + 1}/`,
    start,
    kill: async () => {
      await run(script, ['kill', folder])
    },
    end: async () => {
      await run(script, ['stop', folder])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
