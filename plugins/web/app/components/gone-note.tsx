import { Link } from '@tanstack/react-router'
import { t } from '../lib/i18n.ts'

/** Says that what the page shows is no longer there for this person. */
export const GoneNote = () => (
  <div role="alert" className="sheet page-note">
    <p>{t('gone')}</p>
    <Link to="/" className="button">
      {t('toHome')}
    </Link>
  </div>
)
