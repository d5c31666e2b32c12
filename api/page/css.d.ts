/** The builder bundles all imported style sheets into page.css. */
declare module '*.css'
