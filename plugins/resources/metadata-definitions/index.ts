import { definePlugin, MetadataChecks, MetadataNamings, on, provide } from 'pounce/sdk'
import { definitions } from './collection.ts'
import { config } from './config.ts'
import { DefinitionCheck } from './definition-check.ts'
import { DefinitionKeeping, Keeping } from './definition-keeping.ts'
import { DefinitionNames } from './definition-names.ts'
import { DefinitionWords, ListWords } from './definition-words.ts'
import { CopyToSpaces, DropWithSpace } from './handlers.ts'
import * as routes from './routes.ts'
import * as placeRoutes from './routes-places.ts'
import { SpacesOf, SpacesOfThings } from './spaces-of.ts'
import { Definitions, StoredDefinitions } from './stored-definitions.ts'

export const plugin = definePlugin({
  id: 'resources.metadata-definitions',
  summary: 'Metadata definitions: the fields that an installation and its spaces want, and what they take.',
  config,
  provides: [
    provide(Definitions, StoredDefinitions),
    provide(SpacesOfThings, SpacesOf),
    provide(ListWords, DefinitionWords),
    provide(Keeping, DefinitionKeeping),
    provide(MetadataChecks, DefinitionCheck),
    provide(MetadataNamings, DefinitionNames),
  ],
  routes: { ...routes, ...placeRoutes },
  collections: [definitions],
  handlers: [on('definition.added', CopyToSpaces), on('space.removed', DropWithSpace)],
})
