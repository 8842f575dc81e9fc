import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { percentile } from './load.ts'
import { newKey, startPounce } from './servers.ts'
import { median, type Row, spread } from './table.ts'

const crowd = 300

const form = (): FormData => {
  const parts = new FormData()
  parts.append('File', new Blob([Buffer.alloc(4096, 'leaf ')], { type: 'text/plain' }), 'leaf.txt')
  return parts
}

const whole = async (answer: Promise<Response>): Promise<string> => (await answer).text()

/** Latency of `/healthz` while 300 uploads and 300 readers arrive at once on an idle server. */
export const burst = async (rounds: number): Promise<readonly Row[]> => {
  const p99: number[] = []
  const longest: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const server = await startPounce()
    const url = `http://127.0.0.1:${server.port}`
    const headers = { 'x-api-key': await newKey(server) }
    const json = { ...headers, 'content-type': 'application/json' }
    const made = await fetch(`${url}/api/datasets/createempty`, {
      method: 'POST',
      headers: json,
      body: '{"name":"crowded","description":""}',
    })
    const { id } = (await made.json()) as { id: string }
    await pause(2000)
    const prober = new Worker(new URL('./probe-health.ts', import.meta.url), { workerData: url })
    await pause(300)
    const reads = ['/api/datasets', `/api/datasets/${id}`, `/api/datasets/${id}/files`, '/api/spaces', '/api/search?query=leaf']
    await Promise.all(
      Array.from({ length: crowd }, (_, at) => [
        whole(fetch(`${url}/api/uploadToDataset/${id}`, { method: 'POST', headers, body: form() })),
        whole(fetch(`${url}${reads[at % reads.length]}`, { headers })),
      ]).flat(),
    )
    const times = await new Promise<number[]>((resolve, reject) => {
      prober.once('message', resolve)
      prober.once('error', reject)
      prober.postMessage('end')
    })
    await server.stop()
    times.sort((one, other) => one - other)
    p99.push(percentile(times, 0.99))
    longest.push(times.at(-1) ?? 0)
  }
  return [
    {
      workload: `first burst of ${crowd} uploads and ${crowd} readers`,
      subject: `/healthz meanwhile, p99 (longest ${spread(longest, 'ms')})`,
      figure: spread(p99, 'ms'),
      ratio: median(p99),
      goal: 250,
      isCeiling: true,
    },
  ]
}
