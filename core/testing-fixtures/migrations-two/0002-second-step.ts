import type { DocumentStore } from 'pounce/sdk'
import { things } from '../things.ts'

/** Fails while there is a thing called `fault`. */
export const up = async (documents: DocumentStore): Promise<void> => {
  if (await documents.get(things, 'fault')) throw new Error('the second step broke')
  await documents.commit({ update: 'one', in: things, addToSet: { steps: ['second'] } })
}
