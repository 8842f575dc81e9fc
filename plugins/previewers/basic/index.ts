import { definePlugin, Previewers, provide } from 'pounce/sdk'
import { basicPreviewers } from './basic-previewers.ts'

export const plugin = definePlugin({
  id: 'previewers.basic',
  summary: 'Shows images, text, tables and PDFs in the browser, and plays video and audio.',
  isSwitchable: true,
  provides: basicPreviewers.map(previewer => provide(Previewers, previewer)),
})
