import { anonymousUserId, defineResource, type MetadataRecord, type Person } from 'pounce/sdk'
import { erasedName, fullNameOf } from 'pounce/sdk/kit'
import { metadata } from './stored-metadata.ts'

const isAgent = ({ userId }: MetadataRecord['agent'], { id }: Person): boolean => userId?.includes(id) ?? false

export const metadataResource = defineResource<MetadataRecord>({
  kind: 'metadata',
  collection: metadata,
  view: 'ViewMetadata',
  // Rights are those of the resource that it describes; who sent it owns it.
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
    // Documents stay, for others rely on them; the name that is copied into them goes.
    erase: ({ agent, author }, { person }) =>
      isAgent(agent, person) || (author === person.id && agent.kind === 'user')
        ? { set: { 'agent.name': fullNameOf(erasedName) } }
        : undefined,
  },
})
