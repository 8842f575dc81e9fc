import test from 'ava'
import { previewerContract } from 'pounce/sdk/testing'
import {
  AudioPreviewer,
  HtmlPreviewer,
  ImagePreviewer,
  PdfPreviewer,
  TextPreviewer,
  VideoPreviewer,
  ZoomPreviewer,
} from './basic-previewers.ts'
import { plugin } from './index.ts'

const make = () => [
  ...[new ImagePreviewer(), new PdfPreviewer(), new HtmlPreviewer(), new TextPreviewer()],
  ...[new ZoomPreviewer(), new VideoPreviewer(), new AudioPreviewer()],
]

previewerContract(test, make)

test('the plugin contributes all of them', t => {
  t.is(plugin.provides?.length, make().length)
})

test('a page that somebody uploaded is never shown as a page', t => {
  const shown = make().filter(({ showsFiles, mediaTypes }) => showsFiles && mediaTypes.some(type => /html|svg|xhtml/.test(type)))
  t.deepEqual(shown, [])
})
