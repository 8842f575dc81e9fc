import { anonymousUserId, defineResource, type MetadataRecord, type Person } from 'pounce/sdk'
import { erasedName, fullNameOf } from 'pounce/sdk/kit'
import { metadata } from './stored-metadata.ts'

const isAgent = ({ userId }: MetadataRecord['agent'], { id }: Person): boolean => userId?.includes(id) ?? false

export const metadataResource = defineResource<MetadataRecord>({
  kind: 'metadata',
  collection: metadata,
  view: 'ViewMetadata',
  // A document has the rights of its target, and belongs to the account that sent it.
  rights: ({ author, target }) => ({
    author: author ?? anonymousUserId,
    spaces: [],
    isPublic: false,
    state: 'live',
    parents: [target],
  }),
  personalData: {
    name: 'metadata',
    summary: 'Metadata that you or extractors in your name added.',
    isOf: ({ author, agent }, person) => author === person.id || isAgent(agent, person),
    show: ({ id, target, context, content, agent, created }) => ({ id, target, context, content, agent: agent.kind, created }),
    // Documents are kept, because others rely on them; the copied name is removed.
    erase: ({ agent, author }, { person }) =>
      isAgent(agent, person) || (author === person.id && agent.kind === 'user')
        ? { set: { 'agent.name': fullNameOf(erasedName) } }
        : undefined,
  },
})
