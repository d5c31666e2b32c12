// Imports a file whose URL is known only when the code runs.
module.exports = (url) => import(url)
