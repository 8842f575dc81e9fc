import { erasedName, fullNameOf, type MetadataRecord, type Person, personalRecords, transferred } from 'pounce/sdk'
import { metadata } from './collection.ts'
import { contexts } from './stored-contexts.ts'

const isAgent = ({ userId }: MetadataRecord['agent'], { id }: Person): boolean => userId?.includes(id) ?? false

/** Documents that somebody wrote. They stay, for others rely on them; the name that is copied into them goes. */
export const PersonalMetadata = personalRecords({
  name: 'metadata',
  summary: 'Metadata that you or extractors in your name added.',
  in: metadata,
  isOf: ({ author, agent }, person) => author === person.id || isAgent(agent, person),
  show: ({ id, target, context, content, agent, created }) => ({ id, target, context, content, agent: agent.kind, created }),
  erase: ({ agent, author }, { person }) =>
    isAgent(agent, person) || (author === person.id && agent.kind === 'user')
      ? { set: { 'agent.name': fullNameOf(erasedName) } }
      : undefined,
})

export const PersonalContexts = personalRecords({
  name: 'metadata-contexts',
  summary: 'Named metadata contexts that you created.',
  in: contexts,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, name, context, created }) => ({ id, name, context, created }),
  erase: transferred(),
})
