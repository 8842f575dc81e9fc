import { DocumentStore, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { MongodbStatus } from './mongodb-connection.ts'
import { config, MongodbDocuments } from './mongodb-documents.ts'

export const plugin = definePlugin({
  id: 'documents.mongodb',
  summary: 'Documents in MongoDB: one atomic write per commit, for one server or several.',
  config,
  provides: [provide(DocumentStore, MongodbDocuments), provide(StatusParts, MongodbStatus)],
})
