import { DocumentStore, definePlugin, provide } from 'pounce/sdk'
import { config, MongodbDocuments } from './mongodb-documents.ts'

export const plugin = definePlugin({
  id: 'documents.mongodb',
  summary: 'Documents in MongoDB: one atomic write per commit, for one or several kernels.',
  config,
  provides: [provide(DocumentStore, MongodbDocuments)],
})
