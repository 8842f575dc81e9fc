import type { Installation } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { RtreeGeo } from './rtree-geo.ts'

/** Inserts as fast as it can and prints the first id of each batch once it is acknowledged, until it is killed. For `durability.test.ts`. */
const [folder = '', first = '1'] = process.argv.slice(2)
const store = new RtreeGeo({ cacheMiB: 4, maxSizeMiB: 0, placesPerStream: 2, readers: 1 }, { dataFolder: folder } as Installation)
await store.start()
let next = Number(first)

const pointOf = (batch: number, at: number): Datapoint => ({
  id: batch + at,
  stream: at + 1,
  startMs: batch,
  endMs: batch + at,
  createdMs: batch,
  geometry: { type: 'Point', coordinates: [(batch % 7) + at / 10, 50] },
  properties: { value: batch, [`name${batch % 3}`]: batch % 2 ? 'odd' : ['even', batch] },
})

const caller = async (): Promise<never> => {
  for (;;) {
    const id = next
    next += 10
    const points = Array.from({ length: 10 }, (_, at) => pointOf(id, at))
    const report = await store.insert(points)
    if (!report.every(({ status }) => status === 'inserted')) throw new Error(`Batch ${id} was not inserted`)
    process.stdout.write(`${id}\n`)
  }
}
await Promise.all([1, 2, 3, 4].map(caller))
