/*
 * tls.c: the files are read with libcrypto first, because NNG says of a bad one only that it is
 * bad, and takes a certificate with somebody else's key.
 */
#include "transport/guard/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "proto/log.h"
#include "transport/guard/listen.h"

static FILE *open_file(const char *path, enum result *result, char error[256]);
static int no_passphrase(char *buffer, int size, int writing, void *unused);
static const char *flaw_of(X509 *certificate, EVP_PKEY *key);
static void warn_of_end(const char *path, const X509 *certificate);

bool transport_url_is_tls(const char *url)
{
    static const char *const schemes[] = {"tls+", "wss:", "https:"};
    for (size_t index = 0; index < sizeof schemes / sizeof schemes[0]; index++) {
        if (strncmp(url, schemes[index], strlen(schemes[index])) == 0) {
            return true;
        }
    }
    return false;
}

enum result transport_tls_check_certificate(const char *path, char error[256])
{
    enum result result = RESULT_OK;
    FILE *file = open_file(path, &result, error);
    if (file == NULL) {
        return result;
    }
    X509 *certificate = PEM_read_X509(file, NULL, no_passphrase, NULL);
    rewind(file);
    EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, no_passphrase, NULL);
    (void)fclose(file);
    const char *flaw = flaw_of(certificate, key);
    if (flaw != NULL) {
        snprintf(error, 256, "%s: %s", path, flaw);
        result = RESULT_INVALID;
    } else {
        warn_of_end(path, certificate);
    }
    EVP_PKEY_free(key);
    X509_free(certificate);
    ERR_clear_error();
    return result;
}

/* NULL: none. */
static const char *flaw_of(X509 *certificate, EVP_PKEY *key)
{
    if (certificate == NULL) {
        return "no certificate in it (PEM is read)";
    }
    if (key == NULL) {
        return "no private key in it that is readable without a passphrase";
    }
    if (X509_check_private_key(certificate, key) != 1) {
        return "its private key belongs to another certificate";
    }
    return NULL;
}

enum result transport_tls_check_authorities(const char *path, char error[256])
{
    enum result result = RESULT_OK;
    FILE *file = open_file(path, &result, error);
    if (file == NULL) {
        return result;
    }
    X509 *certificate = PEM_read_X509(file, NULL, no_passphrase, NULL);
    (void)fclose(file);
    if (certificate == NULL) {
        snprintf(error, 256, "%s: no certificate in it (PEM is read)", path);
        result = RESULT_INVALID;
    }
    X509_free(certificate);
    ERR_clear_error();
    return result;
}

enum result transport_tls_listen(const struct transport_tls *files, nng_tls_config **out,
                                 char error[256])
{
    *out = NULL;
    enum result result = transport_tls_check_certificate(files->certificate_file, error);
    if (result == RESULT_OK && files->authorities_file != NULL) {
        result = transport_tls_check_authorities(files->authorities_file, error);
    }
    if (result != RESULT_OK) {
        return result;
    }
    nng_tls_config *config = NULL;
    const char *path = files->certificate_file;
    int code = nng_tls_config_alloc(&config, NNG_TLS_MODE_SERVER);
    if (code == 0 && (code = nng_tls_config_version(config, NNG_TLS_1_2, NNG_TLS_1_3)) == 0) {
        code = nng_tls_config_cert_key_file(config, path, NULL);
    }
    if (code == 0 && files->authorities_file != NULL) {
        path = files->authorities_file;
        code = nng_tls_config_ca_file(config, path);
        if (code == 0) {
            code = nng_tls_config_auth_mode(config, NNG_TLS_AUTH_MODE_REQUIRED);
        }
    }
    if (code != 0) {
        snprintf(error, 256, "%s: %s", path, nng_strerror(code));
        if (config != NULL) {
            nng_tls_config_free(config);
        }
        return transport_result_of_nng(code);
    }
    *out = config;
    return RESULT_OK;
}

/* A regular file: reading from a pipe could take for ever. */
static FILE *open_file(const char *path, enum result *result, char error[256])
{
    struct stat status;
    FILE *file = NULL;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        snprintf(error, 256, "%s: not a file", path);
        *result = RESULT_INVALID;
    } else if ((file = fopen(path, "re")) == NULL) {
        *result = errno == EACCES ? RESULT_DENIED : RESULT_NOT_FOUND;
        snprintf(error, 256, "%s: %s", path, strerror(errno));
    }
    return file;
}

/* Nobody is there to be asked for one. */
static int no_passphrase(char *buffer, int size, int writing, void *unused)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)unused;
    return -1;
}

static void warn_of_end(const char *path, const X509 *certificate)
{
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0) {
        log_line(LOG_ERROR, "TLS-CERTIFICATE-EXPIRED", "file=\"%s\"", path);
    }
}
