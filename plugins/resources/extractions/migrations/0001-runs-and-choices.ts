import { collection, type DocumentStore } from 'pounce/sdk'

/** The former records: `enabled` was part of the extractor record, and a run only recorded whether it had ended. */
const extractors = collection<{ name: string; owner: string | null; isEnabled?: boolean }>()('extractors', { byName: { on: ['name'] } })
const extractions = collection<{ extractor: string; status: string; isFinished?: boolean; target: object; start: string }>()(
  'extractions',
  {
    byTarget: { on: ['target.id', 'start'] },
  },
)
const choices = collection<{ enabled: readonly string[]; disabled: readonly string[] }>()('extractor-choices')

const stateOf = (status: string, isFinished: boolean): string => {
  if (!isFinished) return 'open'
  if (status === 'DONE') return 'done'
  return status === 'Cancel Success' ? 'cancelled' : 'failed'
}

/** Moves the list of enabled extractors to a record of its own, and sets the state of each run. */
export const up = async (documents: DocumentStore): Promise<void> => {
  for await (const { id, name, owner, isEnabled } of documents.scan(extractors, { using: 'byName' })) {
    if (isEnabled === undefined) continue
    if (isEnabled) {
      if (!(await documents.get(choices, 'global'))) {
        await documents.commit({ insert: { id: 'global', enabled: [], disabled: [] }, into: choices })
      }
      await documents.commit({ update: 'global', in: choices, addToSet: { enabled: [name] } })
    }
    const set = { key: null, permissions: [], isBuiltIn: isEnabled && owner === null }
    await documents.commit({ update: id, in: extractors, set, unset: ['isEnabled'] })
  }
  for await (const { id, extractor, status, isFinished } of documents.scan(extractions, { using: 'byTarget' })) {
    if (isFinished === undefined) continue
    const set = { state: stateOf(status, isFinished), queue: extractor, chain: [] }
    await documents.commit({ update: id, in: extractions, set, unset: ['isFinished'] })
  }
}
