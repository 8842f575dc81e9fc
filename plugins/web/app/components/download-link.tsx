import { startDownload } from '../lib/downloads.ts'
import { t } from '../lib/i18n.ts'

/** The download of one file. */
export const DownloadLink = ({
  url,
  name,
  isPrimary = false,
}: {
  readonly url: string
  readonly name: string
  readonly isPrimary?: boolean
}) => (
  <a
    className={isPrimary ? 'button filled' : 'button'}
    href={url}
    download={name}
    onClick={event => {
      event.preventDefault()
      startDownload(url)
    }}
  >
    {t('file.download')}
  </a>
)
