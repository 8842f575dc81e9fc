import { type JsonLimits, parseJson } from 'pounce/sdk/kit'

/** A message may contain an entire metadata document. */
export const messageLimits: JsonLimits = { maxBytes: 32 * 1024 * 1024, maxDepth: 100, maxMembers: 200_000, maxLeaves: 1_000_000 }

/** The IDs in a job message; none when it cannot be parsed. */
export function idsIn(content: Buffer): readonly string[] {
  try {
    const body = parseJson(content, messageLimits)
    if (typeof body !== 'object' || body === null) return []
    const { msgid, jobid } = body as Readonly<Record<string, unknown>>
    return [msgid, jobid].filter(id => typeof id === 'string')
  } catch {
    // Not one of our messages.
    return []
  }
}

/** True for the message of a job. Its `msgid` is the handle for cancelling (reference, extraction §2.1). */
export const isMessageOf = (content: Buffer, id: string): boolean => content.includes(id) && idsIn(content).includes(id)
