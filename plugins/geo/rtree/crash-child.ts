import type { Installation } from 'pounce/sdk'
import { RtreeGeo } from './rtree-geo.ts'
import { pointAt } from './testing.ts'

/** Inserts as fast as it can and prints the first id of each batch once it is acknowledged, until it is killed. For `durability.test.ts`. */
const [folder = '', first = '1'] = process.argv.slice(2)
const store = new RtreeGeo({ cacheMiB: 4, maxSizeMiB: 0, placesPerStream: 2, readers: 1 }, { dataFolder: folder } as Installation)
await store.start()
let next = Number(first)

const caller = async (): Promise<never> => {
  for (;;) {
    const id = next
    next += 10
    const points = Array.from({ length: 10 }, (_, at) =>
      pointAt(id + at, {
        stream: at + 1,
        startMs: id,
        endMs: id + at,
        geometry: { type: 'Point', coordinates: [(id % 7) + at / 10, 50] },
        properties: { value: id, [`name${id % 3}`]: id % 2 ? 'odd' : ['even', id] },
      }),
    )
    const report = await store.insert(points)
    if (!report.every(({ status }) => status === 'inserted')) throw new Error(`Batch ${id} was not inserted`)
    process.stdout.write(`${id}\n`)
  }
}
await Promise.all([1, 2, 3, 4].map(caller))
