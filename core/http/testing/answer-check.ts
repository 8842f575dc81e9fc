import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type RequestContext, requestChannel } from '../request-context.ts'
import { answerFault, type SentAnswer } from './answer-fault.ts'

/** For bodies that are longer, also after decompression, only the status and the media type are checked. */
const maxCheckedBytes = 4 * 1024 * 1024

/** A response that does not match the declaration of its route. */
export class AnswerFault extends Error {
  override readonly name = 'AnswerFault'
}

let isChecking = false
/** Throws outside the request, so that it cannot be caught: the test run fails even if the test expected an error. */
let report = (fault: AnswerFault): void => {
  setImmediate(() => {
    throw fault
  })
}

/**
 * Checks all further responses of this process: status, media type and body against the declaration of the route. Mismatches are
 * thrown as uncaught errors, or passed to `instead`. Idempotent.
 */
export const checkAnswers = (instead?: (fault: AnswerFault) => void): void => {
  report = instead ?? report
  if (isChecking) return
  isChecking = true
  subscribe(requestChannel.name, request => watch(request as RequestContext))
}

const isJson = (headers: SentAnswer['headers'] | undefined): boolean => String(headers?.['content-type']).includes('json')

const watched = new WeakSet<RequestContext>()

/** Checks the response to one request. */
export const watch = (request: RequestContext): void => {
  if (watched.has(request)) return
  watched.add(request)
  const { res } = request
  const { write, end } = res
  let body: Buffer[] | undefined = []
  let length = 0
  const keep = (chunk: unknown, encoding: unknown): void => {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) return
    // Other bodies are only checked for presence.
    if (length > 0 && !isJson(request.head)) return
    if (!body) return
    const bytes =
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
        : Buffer.from(chunk)
    length += bytes.length
    // Copies of the rest would distort tests of memory and stalls.
    if (length > maxCheckedBytes) body = undefined
    else body.push(bytes)
  }
  res.write = function (this: ServerResponse, ...args: Parameters<ServerResponse['write']>) {
    keep(args[0], args[1])
    return write.apply(this, args)
  } as ServerResponse['write']
  res.end = function (this: ServerResponse, ...args: Parameters<ServerResponse['end']>) {
    keep(args[0], args[1])
    // Chunks of an event stream are written to the socket.
    const isSeen = request.head?.['content-type'] !== 'text/event-stream'
    if (!res.destroyed) check(request, isSeen && body ? Buffer.concat(body) : undefined)
    return end.apply(this, args)
  } as ServerResponse['end']
}

const decompress: Readonly<Record<string, typeof gunzipSync>> = { gzip: gunzipSync, br: brotliDecompressSync }

/** The decompressed body; undefined if it is too long to be checked. A long list may be gzipped to a small part of its length. */
const plainBody = (body: Buffer, headers: SentAnswer['headers']): Buffer | undefined => {
  const decoder = body.length > 0 && isJson(headers) ? decompress[String(headers['content-encoding'])] : undefined
  if (!decoder) return body
  try {
    return decoder(body, { maxOutputLength: maxCheckedBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw error
  }
}

const check = ({ req, res, head, route, target, isPluginAnswer }: RequestContext, body: Buffer | undefined): void => {
  // Responses of plugin middleware are not declared.
  if (isPluginAnswer) return
  const method = req.method ?? 'GET'
  const headers = head ?? {}
  const plain = body && plainBody(body, headers)
  const sent = { method, status: res.statusCode, headers, body: plain, declaration: route?.declaration }
  const fault = answerFault(sent)
  if (fault === undefined) return
  const named = route ? ` (${route.name} of ${route.plugin})` : ''
  const shown = plain === undefined ? '' : `: ${plain.subarray(0, 500)}`
  report(
    new AnswerFault(
      `${method} ${target.redactedPath}${named} returned ${res.statusCode} in conflict with its declaration: ${fault}${shown}`,
    ),
  )
}
