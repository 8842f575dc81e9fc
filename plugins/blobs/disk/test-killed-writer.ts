import { testBytes } from 'pounce/sdk/testing'
import { startedStore } from './test-store.ts'

/** A program to be killed by a test: puts blobs endlessly, several at a time, and prints a line for each acknowledged one. */
const [folder, seed] = process.argv.slice(2)
const store = await startedStore(folder ?? '')

const sizes = [0, 17, 4096, 60_000, 65_536, 65_537, 200_000, 3_000_000]

async function writer(number: number): Promise<never> {
  for (let n = 0; ; n += 1) {
    const bytes = testBytes(sizes[(n + number) % sizes.length] ?? 0, Number(seed) + number * 1000 + n)
    const { key, sha256 } = await store.put(bytes)
    process.stdout.write(`${key} ${sha256}\n`)
    if (n % 5 === 4) await store.remove((await store.put(bytes)).key)
  }
}

await Promise.all([0, 1, 2, 3].map(writer))
