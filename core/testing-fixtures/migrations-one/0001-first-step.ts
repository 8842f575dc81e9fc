import type { DocumentStore } from 'pounce/sdk'
import { things } from '../things.ts'

export const up = async (documents: DocumentStore): Promise<void> => {
  if (await documents.get(things, 'one')) return
  await documents.commit({ insert: { id: 'one', steps: ['first'] }, into: things })
}
