import { definePlugin, provide, Transports } from 'pounce/sdk'
import { config, FolderTransport } from './folder-transport.ts'

export const plugin = definePlugin({
  id: 'example.template',
  apiVersion: 1,
  summary: 'Gives extraction jobs to programs that share a folder with the server.',
  config,
  provides: [provide(Transports, FolderTransport)],
})
