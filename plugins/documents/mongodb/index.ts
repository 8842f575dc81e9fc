import { DocumentStore, definePlugin, provide, StatusParts } from 'pounce/sdk'
import { config, MongodbDocuments } from './mongodb-documents.ts'
import { MongodbStatus } from './mongodb-status.ts'

export const plugin = definePlugin({
  id: 'documents.mongodb',
  summary: 'Documents in MongoDB: one atomic write per commit, for one or several kernels.',
  config,
  provides: [provide(DocumentStore, MongodbDocuments), provide(StatusParts, MongodbStatus)],
})
