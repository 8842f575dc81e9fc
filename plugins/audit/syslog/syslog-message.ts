import type { AuditEntry } from 'pounce/sdk'

/** Severity of RFC 5424: normal but significant. */
const notice = 5
/** Reserved for documentation (RFC 5612): this software has no enterprise number. */
const structuredId = 'pounce@32473'

/** A header field: printable ASCII, of limited length, or nothing. */
const field = (text: string, maxLength: number): string => text.replace(/[^\x21-\x7e]/g, '_').slice(0, maxLength) || '-'
const value = (text: string): string => text.replace(/["\\\]]/g, '\\$&')
/** ASCII needs no byte order mark, which not every receiver takes. */
const asciiJson = (entry: AuditEntry): string =>
  JSON.stringify(entry).replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** One message of RFC 5424: the line's place in its chain as structured data, the line as JSON. */
export const syslogMessage = (
  entry: AuditEntry,
  { facility, hostname, processId }: { readonly facility: number; readonly hostname: string; readonly processId: number },
): string => {
  const { id, seq, prev, hash } = entry.chain
  const place = `[${structuredId} chain="${value(id)}" seq="${seq}" prev="${value(prev)}" hash="${value(hash)}"]`
  const head = `<${facility * 8 + notice}>1 ${entry.at} ${field(hostname, 255)} pounce ${processId} ${field(entry.type, 32)}`
  return `${head} ${place} ${asciiJson(entry)}`
}

/** Octet counting (RFC 6587 §3.4.1, RFC 5425 §4.3). */
export const framed = (message: string): string => `${Buffer.byteLength(message)} ${message}`
