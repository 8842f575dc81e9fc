import { Readable } from 'node:stream'
import { BlobStore, DocumentStore } from 'pounce/sdk'

/** Passes calls through and makes one of them fail: before its effect, or after it, so that only the response is lost. */
export class Gate {
  /** Calls since `arm`. */
  count = 0
  /** The call that failed. */
  failed: string | undefined
  #at = 0
  #when: 'before' | 'after' = 'before'
  #fault: () => Error = () => new Error()

  /** Makes the `at`-th call from now on fail; 0: none. */
  arm(at: number, when: 'before' | 'after' = 'before', fault: () => Error = () => new Error('A fault of the test')): void {
    this.count = 0
    this.failed = undefined
    this.#at = at
    this.#when = when
    this.#fault = fault
  }

  /** A proxy of the object whose calls pass through this gate. */
  guard<T extends object>(name: string, inner: T): T {
    return new Proxy(inner, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member, target)
        const called = `${name}.${String(member)}`
        // The outbox uses the same gate.
        if (typeof value === 'object' && value !== null) return this.guard(called, value)
        if (typeof value !== 'function') return value
        const call = (...values: unknown[]): unknown => Reflect.apply(value, target, values)
        return watched.has(String(member)) ? (...values: unknown[]) => this.#pass(called, () => call(...values)) : call
      },
    })
  }

  #pass(called: string, call: () => unknown): unknown {
    this.count += 1
    if (this.count !== this.#at) return call()
    this.failed = called
    const fault = this.#fault()
    if (streams.has(called)) return failing(fault)
    if (this.#when === 'before') return Promise.reject(fault)
    return Promise.resolve(call()).then(result => {
      if (result instanceof Readable) result.destroy()
      return Promise.reject(fault)
    })
  }
}

/** Not `claim`: each commit makes all consumers claim events, which would outnumber the other calls. */
const watched = new Set(
  ['get', 'getMany', 'find', 'count', 'scan', 'walk', 'formattedRows', 'commit', 'commitEach', 'done', 'failed'].concat([
    'put',
    'putGrowing',
    'stat',
    'remove',
    'list',
  ]),
)
const streams = new Set(['documents.scan', 'documents.walk', 'documents.formattedRows', 'blobs.list'])

async function* failing(fault: Error): AsyncGenerator<never> {
  yield* []
  throw fault
}

/** The default plugins except the stores, which are passed as overrides, and the extractors. */
export const pluginsOnStores = [
  ...['blobs.sweep', 'search.fts', 'transport.queue', 'auth.local', 'access.policy'],
  ...[
    'users',
    'spaces',
    'collections',
    'datasets',
    'folders',
    'files',
    'dataset-files',
    'downloads',
    'metadata',
    'sections',
    'tags',
    'comments',
    'previews',
  ]
    .concat('extractions', 'search', 'activity', 'status', 'tree')
    .map(name => `resources.${name}`),
]

export const overridesOf = (documents: DocumentStore, blobs: BlobStore): Readonly<Record<string, unknown>> => ({
  [DocumentStore]: documents,
  [BlobStore]: blobs,
})
