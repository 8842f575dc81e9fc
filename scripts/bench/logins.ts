import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from './load.ts'
import { newKey, type Server, startPounce } from './servers.ts'
import { median, type Row, round } from './table.ts'

const readsPerSecond = 200
const loginsPerSecond = 100
const accounts = 40
const passwordOf = (n: number): string => `the password of ${n}`

interface Sent {
  readonly ms: number
  readonly status: number
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends requests at a constant rate, regardless of the response times; each is timed from its scheduled start. */
const steadily = async (server: Server, rate: number, seconds: number, next: (n: number) => Asked): Promise<readonly Sent[]> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 })
  const one = ({ body, ...options }: Asked, dueAt: number): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const sent = http.request({ host: '127.0.0.1', port: server.port, agent, ...options }, answer => {
        answer.resume()
        answer.on('end', () => resolve({ ms: performance.now() - dueAt, status: answer.statusCode ?? 0 }))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  const startedAt = performance.now()
  const under: Promise<Sent>[] = []
  for (let n = 0; n < rate * seconds; n += 1) {
    const dueAt = startedAt + (n * 1000) / rate
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await pause(waitMs)
    under.push(one(next(n), dueAt))
  }
  const all = await Promise.all(under)
  agent.destroy()
  return all
}

const call = async (server: Server, key: string, path: string, body: object): Promise<{ readonly id: string }> => {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const answer = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as { id: string }
}

const login = (n: number): Asked => {
  const body = JSON.stringify({ email: `person${n % accounts}@example.org`, password: passwordOf(n % accounts) })
  return {
    method: 'POST',
    path: '/api/login',
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
    body,
  }
}

const timesOf = (all: readonly Sent[], share: number): number =>
  percentile(
    all.map(({ ms }) => ms).sort((a, b) => a - b),
    share,
  )
/** The median over all turns of each turn's percentile, so that one disturbed turn does not dominate. */
const middle = (turns: readonly (readonly Sent[])[], share: number): number => median(turns.map(turn => timesOf(turn, share)))
const figure = (turns: readonly (readonly Sent[])[]): string => `p50 ${round(middle(turns, 0.5))} ms, p99 ${round(middle(turns, 0.99))} ms`

/** Point reads alone and during sign-ins, alternately on one server. */
export const logins = async (turns: number, seconds: number): Promise<readonly Row[]> => {
  const server = await startPounce()
  const key = await newKey(server)
  for (let n = 0; n < accounts; n += 1)
    await call(server, key, '/api/users', {
      email: `person${n}@example.org`,
      password: passwordOf(n),
      firstName: 'Person',
      lastName: `Number ${n}`,
    })
  const { id } = await call(server, key, '/api/datasets/createempty', { name: 'read often', description: '' })
  const read: Asked = { method: 'GET', path: `/api/datasets/${id}`, headers: { 'x-api-key': key } }
  const reads = (forSeconds: number) => steadily(server, readsPerSecond, forSeconds, () => read)
  await Promise.all([reads(5), steadily(server, 20, 5, login)])
  const alone: (readonly Sent[])[] = []
  const beside: (readonly Sent[])[] = []
  const signedIn: (readonly Sent[])[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    alone.push(await reads(seconds))
    const [some, others] = await Promise.all([reads(seconds), steadily(server, loginsPerSecond, seconds, n => login(turn * 7 + n))])
    beside.push(some)
    signedIn.push(others)
  }
  await server.stop()
  const wrong = [...alone, ...beside].flat().filter(({ status }) => status !== 200).length
  if (wrong > 0) throw new Error(`${wrong} reads were refused`)
  const served = signedIn.map(turn => turn.filter(({ status }) => status === 200))
  const refused = new Set(signedIn.flat().flatMap(({ status }) => (status === 200 ? [] : [status])))
  const share = Math.round((served.flat().length / signedIn.flat().length) * 100)
  const workload = `${readsPerSecond} point reads/s beside ${loginsPerSecond} logins/s`
  return [
    { workload, subject: 'reads alone', figure: figure(alone) },
    {
      workload,
      subject: 'reads meanwhile, p99 against alone',
      figure: figure(beside),
      ratio: middle(beside, 0.99) / middle(alone, 0.99),
      goal: 1.2,
      isCeiling: true,
    },
    { workload, subject: 'logins', figure: `${share} % served, ${figure(served)}; the others ${[...refused].join(', ')} at once` },
  ]
}
