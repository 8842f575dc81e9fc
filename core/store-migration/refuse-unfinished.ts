import type { DocumentStore } from 'pounce/sdk'
import { StartupError } from '../kernel/startup-error.ts'
import { moveId, moveRecords } from './migration-record.ts'

/** No server starts on stores that an installation was only half moved into. */
export const refuseUnfinishedMove = async (documents: DocumentStore): Promise<void> => {
  const move = await documents.get(moveRecords, moveId)
  if (move?.state !== 'under way') return
  const [from = '', to = ''] = move.route.split(' to ')
  throw new StartupError(`A migration to this store is not complete: run \`pounce migrate --from ${from} --to ${to}\` again to continue it`)
}
