import { type DocumentStore, eq, type Stored } from 'pounce/sdk'
import { audit, type ChainRecord, chains } from './audit-record.ts'
import { type ChainedLine, isChained } from './chain-hash.ts'

/** Chains that one line refers to at most. */
export const maxHeads = 200

/** The last line of a chain. */
export const headOf = async (documents: DocumentStore, chain: string): Promise<ChainedLine | undefined> => {
  const where = eq('chain', chain)
  const { items } = await documents.find(audit, { using: 'byChain', where, sort: { by: 'seq', order: 'descending' }, limit: 1 })
  return items.find(isChained)
}

/** Chains that may still grow, with their heads. */
export const headsOf = async (
  documents: DocumentStore,
): Promise<readonly { readonly record: ChainRecord & Stored; readonly head: ChainedLine }[]> => {
  const { items } = await documents.find(chains, { using: 'bySettled', where: eq('isSettled', false), limit: maxHeads })
  const found = await Promise.all(items.map(async record => ({ record, head: await headOf(documents, record.id) })))
  return found.flatMap(({ record, head }) => (head ? [{ record, head }] : []))
}
