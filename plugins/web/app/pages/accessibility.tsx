import { PageTitle } from '../components/page-parts.tsx'

export const AccessibilityPage = () => <PageTitle name="AccessibilityPage" />
