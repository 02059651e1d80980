/*
 * hash.c: SipHash-2-4 after the reference implementation, and CRC32C by instruction or table.
 */
#include "proto/base/hash.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline uint64_t load_64(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline void store_64(uint8_t *bytes, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(bytes, &word, sizeof word);
}

static inline void sip_round(struct sip *sip)
{
    sip->v0 += sip->v1;
    sip->v1 = rotate(sip->v1, 13) ^ sip->v0;
    sip->v0 = rotate(sip->v0, 32);
    sip->v2 += sip->v3;
    sip->v3 = rotate(sip->v3, 16) ^ sip->v2;
    sip->v0 += sip->v3;
    sip->v3 = rotate(sip->v3, 21) ^ sip->v0;
    sip->v2 += sip->v1;
    sip->v1 = rotate(sip->v1, 17) ^ sip->v2;
    sip->v2 = rotate(sip->v2, 32);
}

static inline void sip_absorb(struct sip *sip, uint64_t word)
{
    sip->v3 ^= word;
    sip_round(sip);
    sip_round(sip);
    sip->v0 ^= word;
}

static inline uint64_t sip_finish(struct sip *sip)
{
    for (unsigned i = 0; i < 4; i++) {
        sip_round(sip);
    }
    return sip->v0 ^ sip->v1 ^ sip->v2 ^ sip->v3;
}

/* The last 0..7 bytes, with the count of all in the top byte. */
static inline uint64_t last_word(const uint8_t *tail, size_t count)
{
    uint64_t word = (uint64_t)count << 56;
    for (size_t i = 0; i < count % 8; i++) {
        word |= (uint64_t)tail[i] << (8 * i);
    }
    return word;
}

static inline void sip_absorb_all(struct sip *sip, struct span span)
{
    const uint8_t *next = span.bytes;
    for (size_t words = span.count / 8; words > 0; words--, next += 8) {
        sip_absorb(sip, load_64(next));
    }
    sip_absorb(sip, last_word(next, span.count));
}

static inline struct sip sip_begin(uint64_t key_low, uint64_t key_high)
{
    return (struct sip){key_low ^ 0x736f6d6570736575u, key_high ^ 0x646f72616e646f6du,
                        key_low ^ 0x6c7967656e657261u, key_high ^ 0x7465646279746573u};
}

uint64_t base_siphash(struct span span, uint64_t key_low, uint64_t key_high)
{
    struct sip sip = sip_begin(key_low, key_high);
    sip_absorb_all(&sip, span);
    sip.v2 ^= 0xff;
    return sip_finish(&sip);
}

void base_siphash_128(struct span span, uint64_t key_low, uint64_t key_high, uint8_t out[16])
{
    struct sip sip = sip_begin(key_low, key_high);
    sip.v1 ^= 0xee;
    sip_absorb_all(&sip, span);
    sip.v2 ^= 0xee;
    store_64(out, sip_finish(&sip));
    sip.v1 ^= 0xdd;
    store_64(out + 8, sip_finish(&sip));
}

/* Remainders of the reflected Castagnoli polynomial 0x82f63b78. */
/* clang-format off */
static const uint32_t crc32c_table[256] = {
    0x00000000u, 0xf26b8303u, 0xe13b70f7u, 0x1350f3f4u, 0xc79a971fu, 0x35f1141cu,
    0x26a1e7e8u, 0xd4ca64ebu, 0x8ad958cfu, 0x78b2dbccu, 0x6be22838u, 0x9989ab3bu,
    0x4d43cfd0u, 0xbf284cd3u, 0xac78bf27u, 0x5e133c24u, 0x105ec76fu, 0xe235446cu,
    0xf165b798u, 0x030e349bu, 0xd7c45070u, 0x25afd373u, 0x36ff2087u, 0xc494a384u,
    0x9a879fa0u, 0x68ec1ca3u, 0x7bbcef57u, 0x89d76c54u, 0x5d1d08bfu, 0xaf768bbcu,
    0xbc267848u, 0x4e4dfb4bu, 0x20bd8edeu, 0xd2d60dddu, 0xc186fe29u, 0x33ed7d2au,
    0xe72719c1u, 0x154c9ac2u, 0x061c6936u, 0xf477ea35u, 0xaa64d611u, 0x580f5512u,
    0x4b5fa6e6u, 0xb93425e5u, 0x6dfe410eu, 0x9f95c20du, 0x8cc531f9u, 0x7eaeb2fau,
    0x30e349b1u, 0xc288cab2u, 0xd1d83946u, 0x23b3ba45u, 0xf779deaeu, 0x05125dadu,
    0x1642ae59u, 0xe4292d5au, 0xba3a117eu, 0x4851927du, 0x5b016189u, 0xa96ae28au,
    0x7da08661u, 0x8fcb0562u, 0x9c9bf696u, 0x6ef07595u, 0x417b1dbcu, 0xb3109ebfu,
    0xa0406d4bu, 0x522bee48u, 0x86e18aa3u, 0x748a09a0u, 0x67dafa54u, 0x95b17957u,
    0xcba24573u, 0x39c9c670u, 0x2a993584u, 0xd8f2b687u, 0x0c38d26cu, 0xfe53516fu,
    0xed03a29bu, 0x1f682198u, 0x5125dad3u, 0xa34e59d0u, 0xb01eaa24u, 0x42752927u,
    0x96bf4dccu, 0x64d4cecfu, 0x77843d3bu, 0x85efbe38u, 0xdbfc821cu, 0x2997011fu,
    0x3ac7f2ebu, 0xc8ac71e8u, 0x1c661503u, 0xee0d9600u, 0xfd5d65f4u, 0x0f36e6f7u,
    0x61c69362u, 0x93ad1061u, 0x80fde395u, 0x72966096u, 0xa65c047du, 0x5437877eu,
    0x4767748au, 0xb50cf789u, 0xeb1fcbadu, 0x197448aeu, 0x0a24bb5au, 0xf84f3859u,
    0x2c855cb2u, 0xdeeedfb1u, 0xcdbe2c45u, 0x3fd5af46u, 0x7198540du, 0x83f3d70eu,
    0x90a324fau, 0x62c8a7f9u, 0xb602c312u, 0x44694011u, 0x5739b3e5u, 0xa55230e6u,
    0xfb410cc2u, 0x092a8fc1u, 0x1a7a7c35u, 0xe811ff36u, 0x3cdb9bddu, 0xceb018deu,
    0xdde0eb2au, 0x2f8b6829u, 0x82f63b78u, 0x709db87bu, 0x63cd4b8fu, 0x91a6c88cu,
    0x456cac67u, 0xb7072f64u, 0xa457dc90u, 0x563c5f93u, 0x082f63b7u, 0xfa44e0b4u,
    0xe9141340u, 0x1b7f9043u, 0xcfb5f4a8u, 0x3dde77abu, 0x2e8e845fu, 0xdce5075cu,
    0x92a8fc17u, 0x60c37f14u, 0x73938ce0u, 0x81f80fe3u, 0x55326b08u, 0xa759e80bu,
    0xb4091bffu, 0x466298fcu, 0x1871a4d8u, 0xea1a27dbu, 0xf94ad42fu, 0x0b21572cu,
    0xdfeb33c7u, 0x2d80b0c4u, 0x3ed04330u, 0xccbbc033u, 0xa24bb5a6u, 0x502036a5u,
    0x4370c551u, 0xb11b4652u, 0x65d122b9u, 0x97baa1bau, 0x84ea524eu, 0x7681d14du,
    0x2892ed69u, 0xdaf96e6au, 0xc9a99d9eu, 0x3bc21e9du, 0xef087a76u, 0x1d63f975u,
    0x0e330a81u, 0xfc588982u, 0xb21572c9u, 0x407ef1cau, 0x532e023eu, 0xa145813du,
    0x758fe5d6u, 0x87e466d5u, 0x94b49521u, 0x66df1622u, 0x38cc2a06u, 0xcaa7a905u,
    0xd9f75af1u, 0x2b9cd9f2u, 0xff56bd19u, 0x0d3d3e1au, 0x1e6dcdeeu, 0xec064eedu,
    0xc38d26c4u, 0x31e6a5c7u, 0x22b65633u, 0xd0ddd530u, 0x0417b1dbu, 0xf67c32d8u,
    0xe52cc12cu, 0x1747422fu, 0x49547e0bu, 0xbb3ffd08u, 0xa86f0efcu, 0x5a048dffu,
    0x8ecee914u, 0x7ca56a17u, 0x6ff599e3u, 0x9d9e1ae0u, 0xd3d3e1abu, 0x21b862a8u,
    0x32e8915cu, 0xc083125fu, 0x144976b4u, 0xe622f5b7u, 0xf5720643u, 0x07198540u,
    0x590ab964u, 0xab613a67u, 0xb831c993u, 0x4a5a4a90u, 0x9e902e7bu, 0x6cfbad78u,
    0x7fab5e8cu, 0x8dc0dd8fu, 0xe330a81au, 0x115b2b19u, 0x020bd8edu, 0xf0605beeu,
    0x24aa3f05u, 0xd6c1bc06u, 0xc5914ff2u, 0x37faccf1u, 0x69e9f0d5u, 0x9b8273d6u,
    0x88d28022u, 0x7ab90321u, 0xae7367cau, 0x5c18e4c9u, 0x4f48173du, 0xbd23943eu,
    0xf36e6f75u, 0x0105ec76u, 0x12551f82u, 0xe03e9c81u, 0x34f4f86au, 0xc69f7b69u,
    0xd5cf889du, 0x27a40b9eu, 0x79b737bau, 0x8bdcb4b9u, 0x988c474du, 0x6ae7c44eu,
    0xbe2da0a5u, 0x4c4623a6u, 0x5f16d052u, 0xad7d5351u,
};
/* clang-format on */

uint32_t base_crc32c_by_table(uint32_t crc, struct span span)
{
    crc = ~crc;
    for (size_t i = 0; i < span.count; i++) {
        crc = crc32c_table[(crc ^ span.bytes[i]) & 0xff] ^ crc >> 8;
    }
    return ~crc;
}

#if defined(__x86_64__)
/*
 * The instruction takes three cycles but one can begin in each, so three lanes of a block are
 * summed side by side. A sum moves on by n bytes as by multiplying it with x^(8n): carry-less, with
 * x^(8n-33) mod P, because the product of two reflected words is one bit short and the reduction by
 * the instruction adds 32.
 */
struct lanes {
    size_t words;    /* of one lane */
    uint64_t by_one; /* x^(8n-33) mod P, n being the bytes of one lane */
    uint64_t by_two;
};

static const struct lanes long_lanes = {64, 0xdd7e3b0cu, 0x170076fau};
static const struct lanes short_lanes = {16, 0x0d3b6092u, 0xb9e02b86u};

typedef long long two_words __attribute__((vector_size(16)));

__attribute__((target("sse4.2,pclmul"))) static inline uint64_t crc32c_move(uint64_t sum,
                                                                            uint64_t by)
{
    two_words product =
        __builtin_ia32_pclmulqdq128((two_words){(long long)sum}, (two_words){(long long)by}, 0);
    return __builtin_ia32_crc32di(0, (uint64_t)product[0]);
}

/* Sums the whole blocks at the span's begin, and takes them off it. */
__attribute__((target("sse4.2,pclmul"))) static inline uint64_t
crc32c_blocks(uint64_t sum, const struct lanes *lanes, struct span *span)
{
    size_t lane_bytes = lanes->words * 8;
    while (span->count >= 3 * lane_bytes) {
        const uint8_t *next = span->bytes;
        uint64_t second = 0;
        uint64_t third = 0;
        for (size_t words = lanes->words; words > 0; words--, next += 8) {
            sum = __builtin_ia32_crc32di(sum, load_64(next));
            second = __builtin_ia32_crc32di(second, load_64(next + lane_bytes));
            third = __builtin_ia32_crc32di(third, load_64(next + 2 * lane_bytes));
        }
        sum = crc32c_move(sum, lanes->by_two) ^ crc32c_move(second, lanes->by_one) ^ third;
        *span = span_of(span->bytes + 3 * lane_bytes, span->count - 3 * lane_bytes);
    }
    return sum;
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t crc32c_by_instruction(uint32_t crc,
                                                                               struct span span)
{
    uint64_t sum = ~crc;
    sum = crc32c_blocks(sum, &long_lanes, &span);
    sum = crc32c_blocks(sum, &short_lanes, &span);
    const uint8_t *next = span.bytes;
    for (size_t words = span.count / 8; words > 0; words--, next += 8) {
        sum = __builtin_ia32_crc32di(sum, load_64(next));
    }
    uint32_t narrow = (uint32_t)sum;
    for (size_t rest = span.count % 8; rest > 0; rest--, next++) {
        narrow = __builtin_ia32_crc32qi(narrow, *next);
    }
    return ~narrow;
}

uint32_t base_crc32c(uint32_t crc, struct span span)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul")
               ? crc32c_by_instruction(crc, span)
               : base_crc32c_by_table(crc, span);
}
#else
uint32_t base_crc32c(uint32_t crc, struct span span)
{
    return base_crc32c_by_table(crc, span);
}
#endif
