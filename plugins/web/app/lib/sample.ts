import { api, urlOf } from './api.ts'
import { t } from './i18n.ts'

/** Sample files shipped with the server, with their upload types. */
const files = [
  { name: 'README.md', type: 'text/markdown' },
  { name: 'stations.csv', type: 'text/csv' },
  { name: 'hill.jpg', type: 'image/jpeg' },
  { name: 'leaf-area.pdf', type: 'application/pdf' },
] as const

/** The license stated in its README: CC0. */
const license = {
  ...{ licenseType: 'license3', licenseText: 'Public Domain Dedication', licenseUrl: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  ...{ rightsHolder: '', allowDownload: true },
}

/** Creates a dataset with the sample files, through the ordinary API calls. Returns its ID. */
export const makeSampleDataset = async (onProgress: (done: number, total: number) => void): Promise<string> => {
  const { id } = await api('POST /api/datasets/createempty', { body: { name: t('sample.name'), description: t('sample.description') } })
  await api('POST /api/datasets/{id}/tags', { path: { id }, body: { tags: ['example', 'river', 'soil'] } })
  await api('POST /api/datasets/{id}/license', { path: { id }, body: license })
  for (const [at, { name, type }] of files.entries()) {
    onProgress(at, files.length)
    const answer = await fetch(urlOf(`/web/sample/${name}`))
    const form = new FormData()
    form.append('File', new File([await answer.blob()], name, { type }))
    const file = await api('POST /api/uploadToDataset/{id}', { path: { id }, body: form })
    if ('id' in file) await api('POST /api/files/{id}/license', { path: { id: file.id }, body: license })
  }
  onProgress(files.length, files.length)
  return id
}
