import test from 'ava'
import { previewerContract } from 'pounce/sdk/testing'
import { basicPreviewers } from './basic-previewers.ts'
import { plugin } from './index.ts'

const make = () => basicPreviewers.map(previewer => new previewer())

previewerContract(test, make)

test('the plugin contributes all previewers', t => {
  t.is(plugin.provides?.length, make().length)
})

test('no previewer displays uploaded HTML, XHTML or SVG', t => {
  const shown = make().filter(({ showsFiles, mediaTypes }) => showsFiles && mediaTypes.some(type => /html|svg|xhtml/.test(type)))
  t.deepEqual(shown, [])
})
