import { Link } from '@tanstack/react-router'
import { t } from '../lib/i18n.ts'

/** Notes that the resource shown by the page was deleted or is no longer accessible. */
export const GoneNote = () => (
  <div role="alert" className="sheet page-note">
    <p>{t('gone')}</p>
    <Link to="/" className="button">
      {t('toHome')}
    </Link>
  </div>
)
