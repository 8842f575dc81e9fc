import { Link, useSearch } from '@tanstack/react-router'
import { Empty, Failure, Loading, PageTitle } from '../components/page-parts.tsx'
import { bytes } from '../lib/format.ts'
import { t } from '../lib/i18n.ts'
import { useFile } from './file/file-data.ts'
import { FileViewer } from './file/file-viewer.tsx'

/** Two files side by side, each in its selected viewer. */
export const ComparePage = () => {
  const { left = '', right = '' } = useSearch({ strict: false }) as Readonly<Record<string, string>>
  return (
    <>
      <PageTitle name={t('compare.title')} />
      <div className="compared">
        {left === '' ? <NoFile /> : <Side key={`left ${left}`} id={left} slot="" />}
        {right === '' ? <NoFile /> : <Side key={`right ${right}`} id={right} slot="2" />}
      </div>
    </>
  )
}

const NoFile = () => <Empty title={t('compare.none')} />

const Side = ({ id, slot }: { readonly id: string; readonly slot: '' | '2' }) => {
  const { data: file, error, refetch } = useFile(id)
  if (error && !file) return <Failure error={error} retry={() => void refetch()} hasTitle={false} />
  if (!file) return <Loading />
  return (
    <div className="compared-file">
      <h2 className="section-title" dir="auto">
        <Link to={`/files/${id}` as never}>{file.name}</Link>
      </h2>
      <p className="help">
        {bytes(file.sizeBytes)} · {file.contentType}
      </p>
      <FileViewer file={file} slot={slot} />
    </div>
  )
}
