import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { configPort, Installation, NoSpace, s, Unavailable, wire } from 'pounce/sdk'
import { type Datapoint, MemoryGeoStore, type PointInserted } from 'pounce/sdk/geo'

export const config = s.Object({
  file: s.Optional(s.String({ minLength: 1, description: 'The journal. Default: `template.jsonl` in the data folder' })),
})
const Config = configPort(config)

type Removal = Parameters<MemoryGeoStore['remove']>[0]
type Entry = { readonly insert: readonly Datapoint[] } | { readonly remove: Removal }

/**
 * Keeps datapoints in memory. Each change is a line in a journal, which is written and synced before the change is confirmed, and replayed at the next start.
 */
export class JournalGeo extends MemoryGeoStore {
  override readonly engine = 'journal'
  readonly #path: string
  #journal: FileHandle | undefined
  #length = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor({ file }: s.Static<typeof config>, { dataFolder }: Installation) {
    super()
    this.#path = file ?? join(dataFolder, 'template.jsonl')
  }

  async start(): Promise<void> {
    this.#journal = await open(this.#path, 'a+')
    const text = await readFile(this.#path, 'utf8')
    // A partial last line was being written during a power failure and was never confirmed.
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    for (const line of whole.split('\n').filter(Boolean)) {
      const entry = JSON.parse(line) as Entry
      if ('insert' in entry) await super.insert(entry.insert)
      else await super.remove(entry.remove)
    }
    this.#length = Buffer.byteLength(whole)
    await this.#journal.truncate(this.#length)
  }

  async dispose(): Promise<void> {
    await this.#last
    await this.#journal?.close()
  }

  override insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]> {
    return this.#inTurn(async () => {
      const outcomes = await super.insert(points)
      const inserted = points.filter((_, at) => outcomes[at]?.status === 'inserted')
      try {
        if (inserted.length > 0) await this.#append({ insert: inserted })
      } catch (error) {
        for (let at = 0; at < inserted.length; at += 1000) await super.remove({ ids: inserted.slice(at, at + 1000).map(({ id }) => id) })
        throw error
      }
      return outcomes
    })
  }

  override remove(what: Removal): Promise<number> {
    return this.#inTurn(async () => {
      const count = await super.remove(what)
      await this.#append({ remove: what })
      return count
    })
  }

  /** Serializes changes, so that the journal has them in the order in which they took effect. */
  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #append(entry: Entry): Promise<void> {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`)
    try {
      await this.#journal?.write(line)
      await this.#journal?.datasync()
      this.#length += line.length
    } catch (error) {
      await this.#journal?.truncate(this.#length).catch(() => undefined)
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') throw new NoSpace(undefined, { cause: error })
      throw new Unavailable('The journal of datapoints is not accessible', { cause: error })
    }
  }
}
wire(JournalGeo, Config, Installation)
