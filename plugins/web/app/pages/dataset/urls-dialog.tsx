import { useState } from 'react'
import { TextField } from '../../components/controls.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { toast } from '../../components/toasts.tsx'
import { ApiError, api } from '../../lib/api.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/i18n.ts'
import type { UploadTarget } from '../../lib/uploads/upload-storage.ts'
import { refreshEntries } from './entries.ts'

const wordsOf = (line: string): readonly string[] => line.split(/\s+/).filter(word => word !== '')

const isAddress = (word: string): boolean => URL.canParse(word) && /^https?:/i.test(word)

/** The distinct URLs in the input. Throws if a word is not an HTTP URL. */
const addressesIn = (text: string): readonly string[] => {
  for (const [at, line] of text.split('\n').entries()) {
    const wrong = wordsOf(line).find(word => !isAddress(word))
    if (wrong !== undefined)
      throw new ApiError(400, { code: 'not-an-address', message: t('urls.notAnAddress', { line: number(at + 1), text: wrong }) })
  }
  return [...new Set(wordsOf(text))]
}

/** Makes the server fetch files from other servers. URLs that fail stay in the field, with the reason. */
export const UrlsDialog = ({ target, onClose }: { readonly target: UploadTarget; readonly onClose: () => void }) => {
  const [text, setText] = useState('')
  const add = async (): Promise<void> => {
    const urls = addressesIn(text)
    const answer = await api('POST /api/datasets/{id}/urls', {
      path: { id: target.dataset },
      query: { folder_id: target.folder },
      body: urls.map(fileurl => ({ fileurl })),
    })
    await refreshEntries(target.dataset)
    const failed = 'failed' in answer ? (answer.failed ?? []) : []
    toast(t('urls.added', { count: urls.length - failed.length }))
    if (failed.length === 0) return
    setText(failed.map(({ url }) => url).join('\n'))
    throw new ApiError(422, { code: 'not-fetched', message: failed.map(({ url, message }) => `${url}: ${message}`).join(' ') })
  }
  return (
    <FormDialog title={t('urls.title')} action={t('urls.action')} isOpen onClose={onClose} onSubmit={add}>
      <TextField
        label={t('urls.label')}
        help={t('urls.help')}
        value={text}
        onChange={setText}
        maxLength={100_000}
        isLong
        isRequired
        autoFocus
      />
    </FormDialog>
  )
}
