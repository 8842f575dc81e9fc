import { hash } from 'node:crypto'
import { Readable } from 'node:stream'

/** What is sent as one request: reopened for each try. */
export interface Payload {
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
  /** Calls `moved` whenever some of it was taken. */
  open(moved: () => void): Readable
}

/** As S3 writes digests. */
export const asBase64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

interface Sending {
  readonly middlewareStack: {
    add(
      middleware: (next: (args: never) => Promise<never>) => (args: { readonly request: unknown }) => Promise<never>,
      options: { readonly step: 'build' },
    ): void
  }
}

/** Signs the request together with the digest of what it carries, which the SDK cannot know of a stream. */
export function signDigest<C>(command: C, sha256: string): C {
  const { middlewareStack } = command as C & Sending
  middlewareStack.add(
    next => args => {
      const { headers } = args.request as { readonly headers: Record<string, string> }
      headers['x-amz-content-sha256'] = sha256
      return next(args as never)
    },
    { step: 'build' },
  )
  return command
}

/** Bytes that are in memory anyway. */
export const bytesPayload = (bytes: Buffer): Payload => ({
  sizeBytes: bytes.length,
  sha256: hash('sha256', bytes),
  open(moved) {
    return Readable.from(
      (function* () {
        moved()
        yield bytes
      })(),
      { objectMode: false },
    )
  },
})
