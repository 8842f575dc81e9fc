import { definePlugin, MetadataChecks, MetadataNamings, on, PersonalDataSources, provide } from 'pounce/sdk'
import { definitions, PersonalDefinitions } from './collection.ts'
import { config } from './config.ts'
import { DefinitionCheck } from './definition-check.ts'
import { CopyDefinitionToSpaces, DeleteDefinitionsOnSpaceRemoved } from './handlers.ts'
import * as routes from './routes.ts'
import { DefinitionNames } from './stored-definitions.ts'
export const plugin = definePlugin({
  id: 'resources.metadata-definitions',
  summary: 'Metadata definitions: the fields of the installation and of spaces, and their accepted values.',
  config,
  provides: [
    provide(MetadataChecks, DefinitionCheck),
    provide(MetadataNamings, DefinitionNames),
    provide(PersonalDataSources, PersonalDefinitions),
  ],
  routes,
  collections: [definitions],
  handlers: [
    on('definition.added', CopyDefinitionToSpaces, 'copy-to-spaces'),
    on('space.removed', DeleteDefinitionsOnSpaceRemoved, 'drop-with-space'),
  ],
})
