import { BackupParts, Commands, DocumentStore, definePlugin, provide } from 'pounce/sdk'
import { config, RecordsBackup, RecordsDoctor, SqliteDocuments } from './sqlite-documents.ts'

export const plugin = definePlugin({
  id: 'documents.sqlite',
  summary: 'Documents in one SQLite file in the data folder, with durable group commits.',
  config,
  isLocal: true,
  provides: [provide(DocumentStore, SqliteDocuments), provide(BackupParts, RecordsBackup), provide(Commands, RecordsDoctor)],
})
