import type { S3Client } from '@aws-sdk/client-s3'
import type { S3Connection } from './connection.ts'

/** Response headers of a presigned URL. */
export interface SignedAnswer {
  readonly filename: string
  readonly contentType: string
  readonly expiresInMs: number
}

interface HttpRequest {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>>
  headers: Record<string, string>
}
interface Presigner {
  presign(request: HttpRequest, options: { readonly expiresIn: number }): Promise<HttpRequest>
}
/** The part of the SDK's middleware arguments that is used here. */
interface Stack {
  addRelativeTo(
    middleware: (
      next: unknown,
      context: { readonly authSchemes?: readonly unknown[] },
    ) => (args: { readonly request: HttpRequest }) => unknown,
    place: { readonly relation: 'before'; readonly toMiddleware: string; readonly name: string },
  ): void
}

/** A URL that lets anyone get an object until it expires, always as a download. Computed from the credentials, without a request. */
export async function signedAddress({ wire, publicClient }: S3Connection, name: string, answer: SignedAnswer): Promise<string> {
  const command = new wire.sdk.GetObjectCommand({
    Bucket: wire.bucket,
    Key: wire.prefix + name,
    ResponseContentType: /^[\w.+-]+\/[\w.+-]+$/.test(answer.contentType) ? answer.contentType : 'application/octet-stream',
    ResponseContentDisposition: attachment(answer.filename),
    ResponseCacheControl: 'private, no-cache',
  })
  let signed: HttpRequest | undefined
  const stack = command.middlewareStack as unknown as Stack
  stack.addRelativeTo(
    (_next, context) => async args => {
      const signer = await signerOf(publicClient, context.authSchemes?.[0])
      // the browser that follows the address sends no header that we could sign
      const headers = { host: args.request.headers['host'] ?? '', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
      const request = Object.assign(args.request, { headers })
      signed = await signer.presign(request, { expiresIn: Math.ceil(answer.expiresInMs / 1000) })
      return { response: {}, output: { $metadata: {} } }
    },
    { relation: 'before', toMiddleware: 'httpSigningMiddleware', name: 'presign' },
  )
  await publicClient.send(command)
  if (!signed) throw new Error('the SDK signed nothing')
  return asText(signed)
}

const signerOf = async (client: S3Client, scheme: unknown): Promise<Presigner> => {
  const { signer } = client.config as unknown as { signer(scheme: unknown): Promise<Presigner> }
  return signer(scheme)
}

function asText({ protocol, hostname, port, path, query = {} }: HttpRequest): string {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
  // not URLSearchParams, which writes a space as +
  const pairs = Object.entries(query).flatMap(([key, value]) => (value === null ? [] : [`${encode(key)}=${encode(String(value))}`]))
  return `${url.href}?${pairs.join('&')}`
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** RFC 6266: the name in any script, and an ASCII fallback. */
const attachment = (filename: string): string => {
  const ascii = filename.replace(/[^ -~]|["\\%]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encode(filename.toWellFormed())}`
}
