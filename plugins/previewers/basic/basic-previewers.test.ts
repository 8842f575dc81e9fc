import test from 'ava'
import { previewerContract } from 'pounce/sdk/testing'
import { basicPreviewers } from './basic-previewers.ts'
import { plugin } from './index.ts'

const make = () => basicPreviewers.map(previewer => new previewer())

previewerContract(test, make)

test('the plugin contributes all of them', t => {
  t.is(plugin.provides?.length, make().length)
})

test('a page that somebody uploaded is never shown as a page', t => {
  const shown = make().filter(({ showsFiles, mediaTypes }) => showsFiles && mediaTypes.some(type => /html|svg|xhtml/.test(type)))
  t.deepEqual(shown, [])
})
