import { createHash } from 'node:crypto'
import type { Stored } from 'pounce/sdk'
import type { AuditContent, AuditRecord } from './audit-record.ts'

/** What the first line of a chain names as the hash before it. */
export const genesis = '0'.repeat(64)

/** A place in a chain and the hash of the line there. */
export interface ChainPoint {
  readonly chain: string
  readonly seq: number
  readonly hash: string
}

/** A line that is part of a chain. */
export type ChainedLine = AuditRecord & Stored & ChainPoint & { readonly prev: string }
export const isChained = (line: AuditRecord & Stored): line is ChainedLine =>
  typeof line.chain === 'string' && typeof line.seq === 'number' && typeof line.hash === 'string' && typeof line.prev === 'string'

/** Written as `<chain>:<seq>:<hash>` in lines that refer to it. */
export const printPoint = ({ chain, seq, hash }: ChainPoint): string => `${chain}:${seq}:${hash}`
export const parsePoint = (text: string): ChainPoint | undefined => {
  const [chain = '', seq = '', hash = ''] = text.split(':')
  return chain !== '' && Number.isSafeInteger(Number(seq)) && hash.length === 64 ? { chain, seq: Number(seq), hash } : undefined
}

type Hashed = AuditContent & { readonly id: string; readonly chain: string; readonly seq: number; readonly prev: string }

/** SHA-256 over the canonical form: a JSON array in fixed order, facts sorted by name, without what changes later (see `isCounted`). */
export const hashOf = ({
  chain,
  seq,
  prev,
  id,
  at,
  type,
  actor,
  user,
  subject,
  about,
  address,
  isCounted,
  count,
  last,
}: Hashed): string => {
  const facts = Object.keys(about)
    .sort()
    .map(name => [name, about[name]])
  const counts = isCounted ? null : [count, last]
  const content = [1, chain, seq, prev, id, at, type, actor, user, subject && [subject.kind, subject.id], facts, address, counts]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
