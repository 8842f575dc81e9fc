import type { DocumentStore } from 'pounce/sdk'
import { StartRefused } from '../start-refused.ts'
import { moveId, moveRecords } from './move-records.ts'

/** No server starts on stores that an installation was only half moved into. */
export const refuseUnfinishedMove = async (documents: DocumentStore): Promise<void> => {
  const move = await documents.get(moveRecords, moveId)
  if (move?.state !== 'under way') return
  const [from = '', to = ''] = move.route.split(' to ')
  throw new StartRefused(
    `An installation is being moved here and is not complete yet: run \`pounce migrate --from ${from} --to ${to}\` again, which goes on where it was`,
  )
}
