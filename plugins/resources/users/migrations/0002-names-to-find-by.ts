import { collection, type DocumentStore, eq } from 'pounce/sdk'
import { foldedText, requireDone } from 'pounce/sdk/kit'

interface Named {
  readonly firstName: string
  readonly lastName: string
  readonly sortFirst?: string
}

const users = collection<Named>()('users')
const batchSize = 500

/** Adds the fields by which users are searched. */
export const up = async (documents: DocumentStore): Promise<void> => {
  let some: { readonly id: string; readonly revision: number; readonly set: { readonly sortFirst: string; readonly sortLast: string } }[] =
    []
  const fill = async (): Promise<void> => {
    const changes = some.map(({ id, revision, set }) => ({ change: { update: id, in: users, where: eq('revision', revision), set } }))
    requireDone(await documents.commitEach(changes))
    some = []
  }
  for await (const { id, revision, firstName, lastName, sortFirst } of documents.walk(users)) {
    if (sortFirst !== undefined) continue
    some.push({
      ...{ id, revision },
      set: { sortFirst: foldedText(`${firstName} ${lastName}`), sortLast: foldedText(`${lastName} ${firstName}`) },
    })
    if (some.length === batchSize) await fill()
  }
  if (some.length > 0) await fill()
}
