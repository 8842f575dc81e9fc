import { setTimeout as pause } from 'node:timers/promises'
import { newKey, type Server, sent, startPounce } from './servers.ts'
import { emptyStart } from './start.ts'
import { median, type Row, spread } from './table.ts'

const workload = (files: number): string => `${files} small text files, each extracted twice by built-in extractors (text, checksums)`

const limitMs = 300_000

const read = async <T>({ url }: Server, path: string, headers: Readonly<Record<string, string>>): Promise<T> =>
  (await (await fetch(url + path, { headers })).json()) as T

/** Whether every upload has created jobs, and all of them have finished. */
const isOver = async (server: Server, headers: Readonly<Record<string, string>>): Promise<boolean> => {
  const { waiting } = await read<{ readonly waiting: number }>(server, '/readyz', headers)
  const pending = await read<readonly unknown[]>(server, '/api/extractions/pending?limit=1', headers)
  return waiting === 0 && pending.length === 0
}

/** Milliseconds per file, from the first upload to the end of the last job. */
const perFileMs = async (files: number): Promise<number> => {
  const server = await startPounce()
  try {
    const headers = { 'x-api-key': await newKey(server) }
    const about = JSON.stringify({ name: 'Extraction', description: '' })
    const dataset = await sent(server, '/api/datasets/createempty', { ...headers, 'content-type': 'application/json' }, about)
    const begun = performance.now()
    for (let n = 0; n < files; n += 1) {
      const body = new FormData()
      body.append('File', new Blob([`text ${n}`], { type: 'text/plain' }), `${n}.txt`)
      const answer = await fetch(`${server.url}/api/uploadToDataset/${dataset}`, { method: 'POST', headers, body })
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    }
    while (!(await isOver(server, headers))) {
      if (performance.now() - begun > limitMs) throw new Error(`Extractions of ${files} files did not finish within ${limitMs / 1000} s`)
      await pause(20)
    }
    return (performance.now() - begun) / files
  } finally {
    await server.stop()
  }
}

/** Time per file with the default extractors. The limit is half a start of Node above one start: most jobs must reuse a running process. */
export const extraction = async (rounds: number, files: number): Promise<readonly Row[]> => {
  const empty: number[] = []
  const taken: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    empty.push(await emptyStart())
    taken.push(await perFileMs(files))
  }
  return [
    { workload: workload(files), subject: 'node -e 0', figure: spread(empty, 'ms') },
    {
      workload: workload(files),
      subject: 'upload and both runs, a file, against node -e 0',
      figure: spread(taken, 'ms'),
      ratio: median(taken) / median(empty),
      goal: 1.5,
      isCeiling: true,
    },
  ]
}
