import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from './load.ts'
import { memoryOf, type Server } from './servers.ts'

/** Measurements of a long response. */
export interface StreamedLines {
  readonly rowsPerSecond: number
  readonly firstByteMs: number
  /** 99th percentile of `/healthz`, requested continuously. */
  readonly healthP99Ms: number
  readonly peakMiB: number
}

/** Reads a whole response; resolves to its number of lines and the time to its first byte. */
const read = (url: string, headers: Readonly<Record<string, string>>): Promise<{ readonly lines: number; readonly firstByteMs: number }> =>
  new Promise((resolve, reject) => {
    const begin = performance.now()
    let firstByteMs = 0
    let lines = 0
    http
      .get(url, { headers, agent: false }, answer => {
        if (answer.statusCode !== 200) reject(new Error(`${answer.statusCode} ${url}`))
        answer.on('data', (chunk: Buffer) => {
          firstByteMs ||= performance.now() - begin
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1
        })
        answer.on('end', () => resolve({ lines, firstByteMs }))
        answer.on('error', reject)
      })
      .on('error', reject)
  })

const healthWhile = async (url: string, work: Promise<unknown>): Promise<number> => {
  const latencies: number[] = []
  let isOver = false
  const over = (): void => {
    isOver = true
  }
  work.then(over, over)
  const agent = new http.Agent({ keepAlive: true })
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      http
        .get(`${url}/healthz`, { agent }, answer => {
          answer.resume()
          answer.on('end', resolve)
        })
        .on('error', reject)
    })
  while (!isOver) {
    const begin = performance.now()
    await ask()
    latencies.push(performance.now() - begin)
    await pause(2)
  }
  agent.destroy()
  return percentile(
    latencies.sort((a, b) => a - b),
    0.99,
  )
}

/** Reads a response of at least `count` lines, while `/healthz` is requested repeatedly. */
export const readLines = async (
  server: Server,
  path: string,
  headers: Readonly<Record<string, string>>,
  count: number,
): Promise<StreamedLines> => {
  const begin = performance.now()
  const reading = read(server.url + path, headers)
  const healthP99Ms = await healthWhile(server.url, reading)
  const { lines, firstByteMs } = await reading
  const seconds = (performance.now() - begin) / 1000
  if (lines < count) throw new Error(`${lines} lines of ${count}`)
  return { rowsPerSecond: lines / seconds, firstByteMs, healthP99Ms, peakMiB: await memoryOf(server.pid, 'VmHWM') }
}
