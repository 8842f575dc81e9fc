import type { GridSort } from '../../components/grid-props.ts'
import type { ViewerHost } from '../host.ts'
import { callsThrough } from '../lib/worker-calls.ts'
import type { ArchiveTotals, Member } from './archive-data.ts'

/** An archive read in a worker, since listing 100,000 files would block the page. */
export class ArchiveClient {
  readonly #worker: Worker
  readonly #call: ReturnType<typeof callsThrough>
  readonly #host: ViewerHost

  constructor(host: ViewerHost) {
    this.#host = host
    this.#worker = new Worker(new URL('./archive-worker.ts', import.meta.url), { type: 'module' })
    this.#call = callsThrough(this.#worker, { read: (start: number, end: number) => host.read(start, end) })
    host.signal.addEventListener('abort', () => this.close(), { once: true })
  }

  close(): void {
    this.#worker.terminate()
  }

  open(): Promise<ArchiveTotals> {
    return this.#call('open', this.#host.thing.sizeBytes)
  }

  list(folder: string, sort: GridSort): Promise<readonly Member[]> {
    return this.#call('list', folder, sort, this.#host.language)
  }

  unpack(path: string): Promise<Uint8Array> {
    return this.#call('unpack', path)
  }
}
