# 2e322dca9066f09295049e79f854f61d95d07e9f108628be9e95a2a9797931c3: matmul_274817b77a2b3b80
	.file	"kernel"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_1:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_2:
	.long	0x3b808081
	.section	.rodata.cst16,"aM",@progbits,16
	.p2align	4, 0x0
.LCPI0_3:
	.zero	16,1
	.text
	.globl	halftone_2e322dca9066f092
	.p2align	4
	.type	halftone_2e322dca9066f092,@function
halftone_2e322dca9066f092:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$240, %rsp
	movq	(%rdi), %rbx
	movq	8(%rdi), %r10
	movq	%rcx, -56(%rsp)
	movq	(%rsi), %rax
	movq	24(%rsi), %rcx
	movq	8(%rsi), %r9
	movq	16(%rsi), %r11
	movq	32(%rsi), %rsi
	movq	%r8, -96(%rsp)
	movq	%rdx, %r8
	movq	%rbx, 72(%rsp)
	movq	%r10, -80(%rsp)
	movq	16(%rdi), %rbx
	movq	24(%rdi), %r10
	movq	32(%rdi), %rdi
	movq	%rax, 104(%rsp)
	leaq	-1(%rax,%rcx), %rax
	movq	%rdi, 48(%rsp)
	movq	%rcx, %rdi
	movq	%rax, %rcx
	orq	%rdi, %rcx
	movq	%rbx, 64(%rsp)
	movq	%r10, 56(%rsp)
	shrq	$32, %rcx
	je	.LBB0_1
	cqto
	idivq	%rdi
	jmp	.LBB0_3
.LBB0_1:
	xorl	%edx, %edx
	divl	%edi
.LBB0_3:
	movq	%rax, 96(%rsp)
	leaq	-1(%r9,%rsi), %rax
	movq	%rax, %rcx
	orq	%rsi, %rcx
	shrq	$32, %rcx
	je	.LBB0_4
	cqto
	idivq	%rsi
	jmp	.LBB0_6
.LBB0_4:
	xorl	%edx, %edx
	divl	%esi
.LBB0_6:
	movq	%rax, -72(%rsp)
	leaq	31(%rsi), %rax
	leaq	62(%rsi), %r14
	leaq	15(%rdi), %rcx
	movq	%rsi, -64(%rsp)
	testq	%rax, %rax
	cmovnsq	%rax, %r14
	leaq	30(%rdi), %rax
	testq	%rcx, %rcx
	cmovnsq	%rcx, %rax
	cmpq	-56(%rsp), %r8
	jge	.LBB0_60
	movq	-96(%rsp), %rsi
	shrq	$4, %rax
	movq	%r14, %r10
	sarq	$5, %r10
	vbroadcastss	.LCPI0_2(%rip), %zmm7
	vmovdqa64	.LCPI0_0(%rip), %zmm1
	vmovdqa64	.LCPI0_1(%rip), %zmm2
	vmovdqa64	.LCPI0_0(%rip), %zmm4
	vmovdqa64	.LCPI0_1(%rip), %zmm5
	addq	$64, -80(%rsp)
	movq	%r9, %r15
	shlq	$10, %r15
	andq	$-32, %r14
	vxorps	%xmm6, %xmm6, %xmm6
	movq	%r9, 88(%rsp)
	movq	%r11, 184(%rsp)
	movq	%rdi, 80(%rsp)
	shlq	$14, %rax
	movq	%r10, %rdx
	shlq	$15, %rdx
	movq	%r10, %r12
	shlq	$6, %r12
	movq	%r10, 232(%rsp)
	movq	%r15, 128(%rsp)
	movq	%r12, 224(%rsp)
	leaq	(%rsi,%rax), %rcx
	leaq	64(%rax,%rsi), %rax
	leaq	1024(%rdx,%rcx), %rbx
	movq	%r10, %rcx
	shlq	$5, %rcx
	movq	%rdi, %rdx
	imulq	%r11, %rdx
	shlq	$7, %r10
	leaq	(%rcx,%rcx,2), %r13
	movq	-64(%rsp), %rcx
	movq	%rax, -40(%rsp)
	leaq	11264(%rsi), %rax
	movq	%r10, (%rsp)
	movq	%rax, 168(%rsp)
	leaq	3072(%rsi), %rax
	movq	%rbx, 176(%rsp)
	movq	%rax, 32(%rsp)
	movq	%rdi, %rax
	imulq	%r9, %rax
	movq	%rdx, 40(%rsp)
	leaq	(,%r9,4), %rdx
	movq	%r13, 216(%rsp)
	movq	%rdx, -24(%rsp)
	leaq	(,%rcx,4), %rcx
	movq	%rax, 24(%rsp)
	leaq	(,%rax,4), %rax
	movq	%rcx, -48(%rsp)
	movq	%rax, 16(%rsp)
	jmp	.LBB0_8
	.p2align	4
.LBB0_59:
	movq	120(%rsp), %r8
	movq	80(%rsp), %rdi
	incq	%r8
	cmpq	-56(%rsp), %r8
	jge	.LBB0_60
.LBB0_8:
	movq	-72(%rsp), %rcx
	movq	-64(%rsp), %rsi
	movq	%r8, %rax
	orq	%rcx, %rax
	shrq	$32, %rax
	je	.LBB0_9
	movq	%r8, %rax
	cqto
	idivq	%rcx
	movq	%rdx, %r15
	jmp	.LBB0_11
	.p2align	4
.LBB0_9:
	movl	%r8d, %eax
	xorl	%edx, %edx
	divl	%ecx
	movl	%edx, %r15d
.LBB0_11:
	movq	96(%rsp), %r10
	movq	%rax, %rcx
	orq	%r10, %rcx
	shrq	$32, %rcx
	je	.LBB0_12
	cqto
	idivq	%r10
	movq	%rdx, %rbp
	jmp	.LBB0_14
	.p2align	4
.LBB0_12:
	xorl	%edx, %edx
	divl	%r10d
	movl	%edx, %ebp
.LBB0_14:
	movq	104(%rsp), %r10
	movq	%rbp, %rax
	imulq	%rdi, %rax
	movq	%r15, %rcx
	imulq	%rsi, %rcx
	movq	%r8, 120(%rsp)
	movq	%rcx, 112(%rsp)
	subq	%rax, %r10
	cmpq	%r10, %rdi
	cmovlq	%rdi, %r10
	subq	%rcx, %r9
	cmpq	%r9, %rsi
	movq	%r10, %rax
	cmovlq	%rsi, %r9
	imulq	%r14, %rax
	movq	%r9, -120(%rsp)
	testq	%rax, %rax
	jle	.LBB0_17
	xorl	%ecx, %ecx
	.p2align	4
.LBB0_16:
	vmovaps	%zmm6, (%rbx,%rcx,4)
	addq	$16, %rcx
	cmpq	%rax, %rcx
	jl	.LBB0_16
.LBB0_17:
	testq	%r11, %r11
	jle	.LBB0_53
	movabsq	$3074457345618258603, %rcx
	movq	%r10, %rax
	movq	40(%rsp), %rdi
	movq	-48(%rsp), %r8
	movq	%r15, 200(%rsp)
	movq	%rbp, 192(%rsp)
	movq	%r10, -16(%rsp)
	imulq	%rcx
	movq	%rdx, %rax
	shrq	$63, %rax
	shrq	%rdx
	addq	%rax, %rdx
	movq	%r10, %rax
	shlq	$2, %rdx
	leaq	(%rdx,%rdx,2), %rcx
	subq	%rcx, %rax
	movq	%rcx, -112(%rsp)
	leaq	3(%rax), %rdx
	testq	%rax, %rax
	cmovnsq	%rax, %rdx
	imulq	%rbp, %rdi
	addq	72(%rsp), %rdi
	shlq	$10, %rax
	imulq	%r15, %r8
	addq	-80(%rsp), %r8
	movq	%rdx, %rsi
	shrq	$2, %rsi
	andq	$-4, %rdx
	shlq	$12, %rsi
	addq	%rcx, %rdx
	movq	%r11, %rcx
	movq	%rdx, -8(%rsp)
	xorl	%edx, %edx
	movq	%rdi, -32(%rsp)
	movq	%r10, %rdi
	shlq	$10, %rdi
	movq	%r8, -88(%rsp)
	addq	%rdi, %rsi
	subq	%rax, %rdi
	addq	32(%rsp), %rdi
	subq	%rax, %rsi
	addq	-96(%rsp), %rsi
	movq	%rdi, 152(%rsp)
	movq	%rsi, 160(%rsp)
	jmp	.LBB0_19
	.p2align	4
.LBB0_52:
	vbroadcastss	.LCPI0_2(%rip), %zmm7
	movq	136(%rsp), %rdx
	movq	144(%rsp), %rcx
	movq	-88(%rsp), %rax
	addq	$256, -32(%rsp)
	movq	-16(%rsp), %r10
	addq	128(%rsp), %rax
	addq	$256, %rdx
	addq	$-256, %rcx
	movq	%rax, -88(%rsp)
	cmpq	%r11, %rdx
	jge	.LBB0_53
.LBB0_19:
	cmpq	$256, %rcx
	movl	$256, %eax
	movq	%rcx, 144(%rsp)
	movl	$256, %r9d
	movq	%rdx, 136(%rsp)
	cmovlq	%rcx, %rax
	movq	%r11, %rcx
	subq	%rdx, %rcx
	cmpq	$256, %rcx
	movq	%rcx, -128(%rsp)
	cmovlq	%rcx, %r9
	testq	%r10, %r10
	jle	.LBB0_25
	movq	-32(%rsp), %rcx
	movq	-96(%rsp), %rdx
	xorl	%esi, %esi
	jmp	.LBB0_21
	.p2align	4
.LBB0_24:
	incq	%rsi
	addq	$1024, %rdx
	addq	%r11, %rcx
	cmpq	%r10, %rsi
	jge	.LBB0_25
.LBB0_21:
	cmpq	$0, -128(%rsp)
	jle	.LBB0_24
	movq	%rax, %rdi
	xorl	%r8d, %r8d
	.p2align	4
.LBB0_23:
	vpbroadcastq	%rdi, %zmm6
	addq	$-16, %rdi
	vpcmpgtq	%zmm1, %zmm6, %k0
	vpcmpgtq	%zmm2, %zmm6, %k1
	kunpckbw	%k0, %k1, %k1
	vmovdqu8	(%rcx,%r8), %xmm6 {%k1} {z}
	vpmovzxbd	%xmm6, %zmm6
	vcvtdq2ps	%zmm6, %zmm6
	vmulps	%zmm7, %zmm6, %zmm6
	vmovaps	%zmm6, (%rdx,%r8,4)
	addq	$16, %r8
	cmpq	%r9, %r8
	jl	.LBB0_23
	jmp	.LBB0_24
	.p2align	4
.LBB0_25:
	cmpq	$0, -128(%rsp)
	movq	-120(%rsp), %r10
	jle	.LBB0_31
	movq	-40(%rsp), %rax
	movq	-88(%rsp), %rcx
	xorl	%edx, %edx
	jmp	.LBB0_27
	.p2align	4
.LBB0_30:
	addq	-24(%rsp), %rcx
	incq	%rdx
	subq	$-128, %rax
	cmpq	%r9, %rdx
	jge	.LBB0_31
.LBB0_27:
	testq	%r10, %r10
	jle	.LBB0_30
	movq	%rax, %rsi
	movq	%r10, %rdi
	xorl	%r8d, %r8d
	.p2align	4
.LBB0_29:
	vpbroadcastq	%rdi, %zmm6
	leaq	-16(%rdi), %r10
	addq	$-32, %rdi
	vpcmpgtq	%zmm4, %zmm6, %k0
	vpcmpgtq	%zmm5, %zmm6, %k1
	vpbroadcastq	%r10, %zmm0
	movq	-120(%rsp), %r10
	kunpckbw	%k0, %k1, %k1
	vpcmpgtq	%zmm4, %zmm0, %k0
	vmovups	-64(%rcx,%r8,4), %zmm6 {%k1} {z}
	vpcmpgtq	%zmm5, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovaps	%zmm6, -64(%rsi)
	vmovups	(%rcx,%r8,4), %zmm6 {%k1} {z}
	addq	$32, %r8
	vmovaps	%zmm6, (%rsi)
	addq	$32768, %rsi
	cmpq	%r10, %r8
	jl	.LBB0_29
	jmp	.LBB0_30
	.p2align	4
.LBB0_31:
	testq	%r10, %r10
	jle	.LBB0_52
	movq	-40(%rsp), %rax
	movq	%rax, -104(%rsp)
	xorl	%eax, %eax
	jmp	.LBB0_33
	.p2align	4
.LBB0_51:
	movq	208(%rsp), %rax
	addq	$32768, -104(%rsp)
	addq	$32, %rax
	cmpq	%r10, %rax
	jge	.LBB0_52
.LBB0_33:
	cmpq	$0, -112(%rsp)
	leaq	(%rbx,%rax,4), %rbp
	movq	%rax, 208(%rsp)
	movq	%rbp, 8(%rsp)
	jle	.LBB0_39
	movq	168(%rsp), %r11
	xorl	%esi, %esi
	jmp	.LBB0_35
	.p2align	4
.LBB0_38:
	movq	224(%rsp), %rcx
	movq	216(%rsp), %r10
	vmovaps	%zmm6, (%rdx)
	vmovaps	%zmm7, 64(%rdx)
	vmovaps	%zmm8, (%rdx,%r14,4)
	vmovaps	%zmm9, 64(%rdx,%r14,4)
	addq	$12, %rsi
	addq	$12288, %r11
	vmovaps	%zmm10, (%rdx,%rcx,4)
	vmovaps	%zmm11, 64(%rdx,%rcx,4)
	vmovaps	%zmm12, (%rdx,%r10,4)
	vmovaps	%zmm13, 64(%rdx,%r10,4)
	vmovaps	%zmm14, (%rdx,%r15)
	vmovaps	%zmm15, 64(%rdx,%r15)
	vmovaps	%zmm16, (%rdx,%r8)
	vmovaps	%zmm17, 64(%rdx,%r8)
	vmovaps	%zmm18, (%rdx,%r12)
	vmovaps	%zmm19, 64(%rdx,%r12)
	vmovaps	%zmm20, (%rdx,%rax)
	vmovaps	%zmm21, 64(%rdx,%rax)
	vmovaps	%zmm22, (%rdx,%rdi)
	vmovaps	%zmm23, 64(%rdx,%rdi)
	vmovaps	%zmm24, (%rdx,%r13)
	vmovaps	%zmm25, 64(%rdx,%r13)
	vmovaps	%zmm26, (%rdx,%rbp)
	vmovaps	%zmm27, 64(%rdx,%rbp)
	movq	8(%rsp), %rbp
	vmovaps	%zmm28, (%rdx,%rbx)
	movq	%rcx, %r12
	movq	%r10, %r13
	vmovaps	%zmm29, 64(%rdx,%rbx)
	cmpq	-112(%rsp), %rsi
	jge	.LBB0_39
.LBB0_35:
	movq	232(%rsp), %rdx
	movq	%rsi, %rcx
	imulq	%r14, %rcx
	vmovaps	(%rbp,%rcx,4), %zmm6
	vmovaps	64(%rbp,%rcx,4), %zmm7
	movq	%rdx, %r15
	movq	%rdx, %rdi
	movq	%rdx, %r10
	imulq	$896, %rdx, %rax
	imulq	$1408, %rdx, %rbx
	leaq	(%rbp,%rcx,4), %rdx
	movq	(%rsp), %rcx
	shlq	$8, %r10
	shlq	$9, %r15
	shlq	$10, %rdi
	cmpq	$0, -128(%rsp)
	leaq	(%r10,%r10,4), %rbp
	vmovaps	(%rdx,%r12,4), %zmm10
	vmovaps	64(%rdx,%r12,4), %zmm11
	leaq	(%r10,%r10,2), %r12
	vmovaps	(%rdx,%r13,4), %zmm12
	vmovaps	64(%rdx,%r13,4), %zmm13
	vmovaps	(%rdx,%r14,4), %zmm8
	vmovaps	64(%rdx,%r14,4), %zmm9
	vmovaps	(%r15,%rdx), %zmm14
	vmovaps	64(%r15,%rdx), %zmm15
	vmovaps	(%rdi,%rdx), %zmm22
	vmovaps	64(%rdi,%rdx), %zmm23
	vmovaps	(%rax,%rdx), %zmm20
	vmovaps	64(%rax,%rdx), %zmm21
	vmovaps	(%rdx,%rbp), %zmm26
	vmovaps	64(%rdx,%rbp), %zmm27
	vmovaps	(%rbx,%rdx), %zmm28
	vmovaps	64(%rbx,%rdx), %zmm29
	vmovaps	(%rdx,%r12), %zmm18
	vmovaps	64(%rdx,%r12), %zmm19
	leaq	(%rcx,%rcx,4), %r8
	leaq	(%rcx,%rcx,8), %r13
	vmovaps	(%rdx,%r8), %zmm16
	vmovaps	64(%rdx,%r8), %zmm17
	vmovaps	(%rdx,%r13), %zmm24
	vmovaps	64(%rdx,%r13), %zmm25
	jle	.LBB0_38
	movq	-104(%rsp), %rcx
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_37:
	vbroadcastss	-11264(%r11,%r10,4), %zmm0
	vmovaps	-64(%rcx), %zmm31
	vmovaps	(%rcx), %zmm30
	vbroadcastss	-7168(%r11,%r10,4), %zmm3
	subq	$-128, %rcx
	vfmadd231ps	%zmm31, %zmm0, %zmm6
	vfmadd231ps	%zmm0, %zmm30, %zmm7
	vbroadcastss	-10240(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm31, %zmm3, %zmm14
	vfmadd231ps	%zmm3, %zmm30, %zmm15
	vbroadcastss	-3072(%r11,%r10,4), %zmm3
	vfmadd231ps	%zmm31, %zmm0, %zmm8
	vfmadd231ps	%zmm0, %zmm30, %zmm9
	vbroadcastss	-9216(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm31, %zmm3, %zmm22
	vfmadd231ps	%zmm3, %zmm30, %zmm23
	vbroadcastss	-1024(%r11,%r10,4), %zmm3
	vfmadd231ps	%zmm31, %zmm0, %zmm10
	vfmadd231ps	%zmm0, %zmm30, %zmm11
	vbroadcastss	-8192(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm31, %zmm3, %zmm26
	vfmadd231ps	%zmm3, %zmm30, %zmm27
	vfmadd231ps	%zmm31, %zmm0, %zmm12
	vfmadd231ps	%zmm0, %zmm30, %zmm13
	vbroadcastss	-6144(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm31, %zmm0, %zmm16
	vfmadd231ps	%zmm0, %zmm30, %zmm17
	vbroadcastss	-5120(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm31, %zmm0, %zmm18
	vfmadd231ps	%zmm0, %zmm30, %zmm19
	vbroadcastss	-4096(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm31, %zmm0, %zmm20
	vfmadd231ps	%zmm0, %zmm30, %zmm21
	vbroadcastss	-2048(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm31, %zmm0, %zmm24
	vfmadd231ps	%zmm0, %zmm30, %zmm25
	vbroadcastss	(%r11,%r10,4), %zmm0
	incq	%r10
	vfmadd231ps	%zmm31, %zmm0, %zmm28
	vfmadd231ps	%zmm30, %zmm0, %zmm29
	cmpq	%r9, %r10
	jl	.LBB0_37
	jmp	.LBB0_38
	.p2align	4
.LBB0_39:
	movq	-8(%rsp), %r11
	movq	-16(%rsp), %r8
	movq	-120(%rsp), %r10
	cmpq	%r11, -112(%rsp)
	jge	.LBB0_45
	movq	152(%rsp), %rax
	movq	-112(%rsp), %rcx
	jmp	.LBB0_41
	.p2align	4
.LBB0_44:
	addq	$4, %rcx
	addq	$4096, %rax
	vmovaps	%zmm6, (%rdx)
	vmovaps	%zmm7, 64(%rdx)
	vmovaps	%zmm8, (%rdx,%r14,4)
	vmovaps	%zmm9, 64(%rdx,%r14,4)
	vmovaps	%zmm10, (%rdx,%r12,4)
	vmovaps	%zmm11, 64(%rdx,%r12,4)
	vmovaps	%zmm12, (%rdx,%r13,4)
	vmovaps	%zmm13, 64(%rdx,%r13,4)
	cmpq	%r11, %rcx
	jge	.LBB0_45
.LBB0_41:
	movq	%rcx, %rsi
	imulq	%r14, %rsi
	cmpq	$0, -128(%rsp)
	leaq	(%rbp,%rsi,4), %rdx
	vmovaps	(%rbp,%rsi,4), %zmm6
	vmovaps	64(%rbp,%rsi,4), %zmm7
	vmovaps	(%rdx,%r14,4), %zmm8
	vmovaps	64(%rdx,%r14,4), %zmm9
	vmovaps	(%rdx,%r12,4), %zmm10
	vmovaps	64(%rdx,%r12,4), %zmm11
	vmovaps	(%rdx,%r13,4), %zmm12
	vmovaps	64(%rdx,%r13,4), %zmm13
	jle	.LBB0_44
	movq	-104(%rsp), %rsi
	xorl	%edi, %edi
	.p2align	4
.LBB0_43:
	vbroadcastss	-3072(%rax,%rdi,4), %zmm14
	vbroadcastss	-2048(%rax,%rdi,4), %zmm17
	vbroadcastss	-1024(%rax,%rdi,4), %zmm15
	vbroadcastss	(%rax,%rdi,4), %zmm16
	vmovaps	-64(%rsi), %zmm0
	vmovaps	(%rsi), %zmm3
	incq	%rdi
	subq	$-128, %rsi
	vfmadd231ps	%zmm0, %zmm14, %zmm6
	vfmadd231ps	%zmm14, %zmm3, %zmm7
	vfmadd231ps	%zmm0, %zmm17, %zmm8
	vfmadd231ps	%zmm17, %zmm3, %zmm9
	vfmadd231ps	%zmm0, %zmm15, %zmm10
	vfmadd231ps	%zmm15, %zmm3, %zmm11
	vfmadd231ps	%zmm0, %zmm16, %zmm12
	vfmadd231ps	%zmm3, %zmm16, %zmm13
	cmpq	%r9, %rdi
	jl	.LBB0_43
	jmp	.LBB0_44
	.p2align	4
.LBB0_45:
	movq	%rbp, %rsi
	movq	176(%rsp), %rbx
	movq	200(%rsp), %r15
	movq	192(%rsp), %rbp
	cmpq	%r8, %r11
	movq	184(%rsp), %r11
	jge	.LBB0_51
	movq	160(%rsp), %rax
	movq	-8(%rsp), %rcx
	jmp	.LBB0_47
	.p2align	4
.LBB0_50:
	movq	8(%rsp), %rsi
	incq	%rcx
	addq	$1024, %rax
	vmovaps	%zmm6, (%rsi,%rdx,4)
	vmovaps	%zmm7, 64(%rsi,%rdx,4)
	cmpq	%r8, %rcx
	jge	.LBB0_51
.LBB0_47:
	movq	%rcx, %rdx
	imulq	%r14, %rdx
	cmpq	$0, -128(%rsp)
	vmovaps	(%rsi,%rdx,4), %zmm6
	vmovaps	64(%rsi,%rdx,4), %zmm7
	jle	.LBB0_50
	movq	-104(%rsp), %rsi
	xorl	%edi, %edi
	.p2align	4
.LBB0_49:
	vbroadcastss	(%rax,%rdi,4), %zmm0
	incq	%rdi
	vfmadd231ps	-64(%rsi), %zmm0, %zmm6
	vfmadd231ps	(%rsi), %zmm0, %zmm7
	subq	$-128, %rsi
	cmpq	%r9, %rdi
	jl	.LBB0_49
	jmp	.LBB0_50
	.p2align	4
.LBB0_53:
	movq	88(%rsp), %r9
	vxorps	%xmm6, %xmm6, %xmm6
	testq	%r10, %r10
	jle	.LBB0_59
	movq	24(%rsp), %rax
	imulq	-48(%rsp), %r15
	movq	%rbx, %rcx
	xorl	%edx, %edx
	imulq	%rbp, %rax
	imulq	16(%rsp), %rbp
	addq	112(%rsp), %rax
	addq	48(%rsp), %rax
	addq	%r15, %rbp
	addq	56(%rsp), %rbp
	addq	64(%rsp), %r15
	jmp	.LBB0_55
	.p2align	4
.LBB0_58:
	addq	(%rsp), %rcx
	addq	-24(%rsp), %rbp
	incq	%rdx
	addq	%r9, %rax
	cmpq	%r10, %rdx
	jge	.LBB0_59
.LBB0_55:
	movq	-120(%rsp), %r8
	testq	%r8, %r8
	jle	.LBB0_58
	movq	%r8, %rsi
	xorl	%edi, %edi
	.p2align	4
.LBB0_57:
	vpbroadcastq	%rsi, %zmm0
	addq	$-16, %rsi
	vpcmpgtq	%zmm1, %zmm0, %k0
	vpcmpgtq	%zmm2, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%r15,%rdi,4), %zmm0 {%k1} {z}
	vaddps	(%rcx,%rdi,4), %zmm0, %zmm0
	vcmpnltps	%zmm6, %zmm0, %k2
	vmaxps	%zmm0, %zmm6, %zmm0
	vmovdqu8	.LCPI0_3(%rip), %xmm3 {%k2} {z}
	vmovups	%zmm0, (%rbp,%rdi,4) {%k1}
	vmovdqu8	%xmm3, (%rax,%rdi) {%k1}
	addq	$16, %rdi
	cmpq	%r8, %rdi
	jl	.LBB0_57
	jmp	.LBB0_58
.LBB0_60:
	addq	$240, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_2e322dca9066f092, .Lfunc_end0-halftone_2e322dca9066f092

	.section	".note.GNU-stack","",@progbits

# c0ef080e3183b4d64e832ab854cdac0d8d0b6bfe2aff1964b3a2492ff3195ead: matmul_d19ae2ba04434abd
	.file	"kernel"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_1:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.text
	.globl	halftone_c0ef080e3183b4d6
	.p2align	4
	.type	halftone_c0ef080e3183b4d6,@function
halftone_c0ef080e3183b4d6:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$224, %rsp
	movq	%r8, -88(%rsp)
	movq	%rdx, %r8
	movq	16(%rsi), %rdx
	movq	8(%rsi), %r9
	movq	24(%rsi), %r10
	movq	(%rsi), %rax
	movq	%rcx, -40(%rsp)
	movq	%rdx, -24(%rsp)
	movq	(%rdi), %rdx
	movq	%r9, -96(%rsp)
	movq	32(%rsi), %r9
	movq	%r10, %rsi
	movq	8(%rdi), %r10
	movq	%rax, 80(%rsp)
	leaq	-1(%rax,%rsi), %rax
	movq	%rdx, 64(%rsp)
	movq	16(%rdi), %rdx
	movq	24(%rdi), %rdi
	movq	%r10, -64(%rsp)
	movq	%rdx, 56(%rsp)
	movq	%rax, %rdx
	orq	%rsi, %rdx
	movq	%rdi, 48(%rsp)
	shrq	$32, %rdx
	je	.LBB0_1
	cqto
	idivq	%rsi
	jmp	.LBB0_3
.LBB0_1:
	xorl	%edx, %edx
	divl	%esi
.LBB0_3:
	movq	-96(%rsp), %rcx
	movq	-24(%rsp), %rdi
	movq	%rax, 72(%rsp)
	leaq	-1(%rcx,%r9), %rax
	movq	%rax, %rcx
	orq	%r9, %rcx
	shrq	$32, %rcx
	je	.LBB0_4
	cqto
	idivq	%r9
	jmp	.LBB0_6
.LBB0_4:
	xorl	%edx, %edx
	divl	%r9d
.LBB0_6:
	movq	%rax, -56(%rsp)
	leaq	31(%r9), %rax
	leaq	62(%r9), %r14
	leaq	15(%rsi), %rcx
	movq	%r9, -48(%rsp)
	testq	%rax, %rax
	cmovnsq	%rax, %r14
	leaq	30(%rsi), %rax
	testq	%rcx, %rcx
	cmovnsq	%rcx, %rax
	cmpq	-40(%rsp), %r8
	jge	.LBB0_60
	movq	%rsi, -104(%rsp)
	movq	-88(%rsp), %rsi
	shrq	$4, %rax
	movq	%r14, %r9
	sarq	$5, %r9
	vmovdqa64	.LCPI0_0(%rip), %zmm1
	vmovdqa64	.LCPI0_1(%rip), %zmm2
	vmovdqa64	.LCPI0_0(%rip), %zmm3
	vmovdqa64	.LCPI0_1(%rip), %zmm4
	addq	$64, -64(%rsp)
	andq	$-32, %r14
	vxorps	%xmm5, %xmm5, %xmm5
	shlq	$14, %rax
	movq	%r9, %rdx
	shlq	$15, %rdx
	movq	-104(%rsp), %rbx
	movq	%r9, %r10
	shlq	$6, %r10
	movq	%r9, 216(%rsp)
	movq	%r10, 16(%rsp)
	leaq	(%rsi,%rax), %rcx
	leaq	64(%rax,%rsi), %rax
	leaq	1024(%rdx,%rcx), %r11
	movq	%r9, %rcx
	shlq	$5, %rcx
	leaq	(,%rdi,4), %rdx
	imulq	%rdi, %rbx
	shlq	$7, %r9
	leaq	(%rcx,%rcx,2), %r12
	movq	-48(%rsp), %rcx
	movq	%rax, -16(%rsp)
	leaq	11264(%rsi), %rax
	movq	%r9, 8(%rsp)
	movq	%rax, 136(%rsp)
	leaq	3072(%rsi), %rax
	movq	-104(%rsp), %rsi
	movq	%rdx, 144(%rsp)
	movq	%r11, 152(%rsp)
	movq	%rax, 32(%rsp)
	shlq	$2, %rbx
	movq	%r12, 208(%rsp)
	movq	%rbx, 40(%rsp)
	leaq	(,%rcx,4), %rcx
	movq	%rsi, %rax
	movq	%rcx, -32(%rsp)
	movq	-96(%rsp), %rcx
	imulq	%rcx, %rax
	movq	%rcx, %rdx
	shlq	$10, %rdx
	movq	%rdx, 96(%rsp)
	leaq	(,%rcx,4), %rdx
	shlq	$2, %rax
	movq	%rdx, (%rsp)
	movq	%rax, 24(%rsp)
	jmp	.LBB0_8
	.p2align	4
.LBB0_59:
	movq	-104(%rsp), %rsi
	incq	%r8
	cmpq	-40(%rsp), %r8
	jge	.LBB0_60
.LBB0_8:
	movq	-56(%rsp), %rcx
	movq	%r8, %rax
	orq	%rcx, %rax
	shrq	$32, %rax
	je	.LBB0_9
	movq	%r8, %rax
	cqto
	idivq	%rcx
	movq	%rdx, %rbx
	jmp	.LBB0_11
	.p2align	4
.LBB0_9:
	movl	%r8d, %eax
	xorl	%edx, %edx
	divl	%ecx
	movl	%edx, %ebx
.LBB0_11:
	movq	72(%rsp), %r9
	movq	%rax, %rcx
	orq	%r9, %rcx
	shrq	$32, %rcx
	je	.LBB0_12
	cqto
	idivq	%r9
	movq	%rdx, %r15
	jmp	.LBB0_14
	.p2align	4
.LBB0_12:
	xorl	%edx, %edx
	divl	%r9d
	movl	%edx, %r15d
.LBB0_14:
	movq	-48(%rsp), %rdx
	movq	80(%rsp), %r13
	movq	%r15, %rax
	imulq	%rsi, %rax
	movq	-96(%rsp), %rbp
	movq	%rbx, %rcx
	movq	%r8, 88(%rsp)
	imulq	%rdx, %rcx
	subq	%rax, %r13
	cmpq	%r13, %rsi
	cmovlq	%rsi, %r13
	subq	%rcx, %rbp
	movq	%r13, %rax
	cmpq	%rbp, %rdx
	cmovlq	%rdx, %rbp
	imulq	%r14, %rax
	testq	%rax, %rax
	jle	.LBB0_17
	xorl	%ecx, %ecx
	.p2align	4
.LBB0_16:
	vmovaps	%zmm5, (%r11,%rcx,4)
	addq	$16, %rcx
	cmpq	%rax, %rcx
	jl	.LBB0_16
.LBB0_17:
	testq	%rdi, %rdi
	jle	.LBB0_53
	movabsq	$3074457345618258603, %rcx
	movq	%r13, %rax
	movq	40(%rsp), %r8
	movq	-32(%rsp), %r9
	movq	%rbx, 192(%rsp)
	movq	%r15, 184(%rsp)
	movq	%r13, 176(%rsp)
	movq	%rbp, 168(%rsp)
	imulq	%rcx
	movq	%rdx, %rax
	shrq	$63, %rax
	shrq	%rdx
	addq	%rax, %rdx
	movq	%r13, %rax
	shlq	$2, %rdx
	leaq	(%rdx,%rdx,2), %rcx
	subq	%rcx, %rax
	movq	%rcx, -120(%rsp)
	leaq	3(%rax), %rdx
	testq	%rax, %rax
	cmovnsq	%rax, %rdx
	imulq	%r15, %r8
	addq	64(%rsp), %r8
	shlq	$10, %rax
	imulq	%rbx, %r9
	addq	-64(%rsp), %r9
	movq	%rdx, %rsi
	shrq	$2, %rsi
	andq	$-4, %rdx
	shlq	$12, %rsi
	addq	%rcx, %rdx
	movq	%rdi, %rcx
	movq	%rdx, 160(%rsp)
	xorl	%edx, %edx
	movq	%r8, -8(%rsp)
	movq	%r13, %r8
	shlq	$10, %r8
	movq	%r9, -80(%rsp)
	addq	%r8, %rsi
	subq	%rax, %r8
	addq	32(%rsp), %r8
	subq	%rax, %rsi
	addq	-88(%rsp), %rsi
	movq	%r8, 120(%rsp)
	movq	%rsi, 128(%rsp)
	jmp	.LBB0_19
	.p2align	4
.LBB0_52:
	movq	104(%rsp), %rdx
	movq	112(%rsp), %rcx
	movq	-80(%rsp), %rax
	addq	$1024, -8(%rsp)
	movq	-24(%rsp), %rdi
	addq	96(%rsp), %rax
	addq	$256, %rdx
	addq	$-256, %rcx
	movq	%rax, -80(%rsp)
	cmpq	%rdi, %rdx
	jge	.LBB0_53
.LBB0_19:
	cmpq	$256, %rcx
	movl	$256, %eax
	movl	$256, %r8d
	movq	%rcx, 112(%rsp)
	movq	%rdx, 104(%rsp)
	cmovlq	%rcx, %rax
	subq	%rdx, %rdi
	cmpq	$256, %rdi
	movq	%rdi, -128(%rsp)
	cmovlq	%rdi, %r8
	testq	%r13, %r13
	jle	.LBB0_25
	movq	-8(%rsp), %rcx
	movq	-88(%rsp), %rdx
	xorl	%esi, %esi
	jmp	.LBB0_21
	.p2align	4
.LBB0_24:
	addq	144(%rsp), %rcx
	incq	%rsi
	addq	$1024, %rdx
	cmpq	%r13, %rsi
	jge	.LBB0_25
.LBB0_21:
	cmpq	$0, -128(%rsp)
	jle	.LBB0_24
	movq	%rax, %rdi
	xorl	%r9d, %r9d
	.p2align	4
.LBB0_23:
	vpbroadcastq	%rdi, %zmm5
	addq	$-16, %rdi
	vpcmpgtq	%zmm1, %zmm5, %k0
	vpcmpgtq	%zmm2, %zmm5, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%rcx,%r9,4), %zmm5 {%k1} {z}
	vmovaps	%zmm5, (%rdx,%r9,4)
	addq	$16, %r9
	cmpq	%r8, %r9
	jl	.LBB0_23
	jmp	.LBB0_24
	.p2align	4
.LBB0_25:
	cmpq	$0, -128(%rsp)
	jle	.LBB0_31
	movq	-16(%rsp), %rax
	movq	-80(%rsp), %rcx
	xorl	%edx, %edx
	jmp	.LBB0_27
	.p2align	4
.LBB0_30:
	addq	(%rsp), %rcx
	incq	%rdx
	subq	$-128, %rax
	cmpq	%r8, %rdx
	jge	.LBB0_31
.LBB0_27:
	testq	%rbp, %rbp
	jle	.LBB0_30
	movq	%rax, %rsi
	movq	%rbp, %rdi
	xorl	%r9d, %r9d
	.p2align	4
.LBB0_29:
	vpbroadcastq	%rdi, %zmm5
	leaq	-16(%rdi), %r10
	addq	$-32, %rdi
	vpcmpgtq	%zmm3, %zmm5, %k0
	vpcmpgtq	%zmm4, %zmm5, %k1
	vpbroadcastq	%r10, %zmm0
	kunpckbw	%k0, %k1, %k1
	vpcmpgtq	%zmm3, %zmm0, %k0
	vmovups	-64(%rcx,%r9,4), %zmm5 {%k1} {z}
	vpcmpgtq	%zmm4, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovaps	%zmm5, -64(%rsi)
	vmovups	(%rcx,%r9,4), %zmm5 {%k1} {z}
	addq	$32, %r9
	vmovaps	%zmm5, (%rsi)
	addq	$32768, %rsi
	cmpq	%rbp, %r9
	jl	.LBB0_29
	jmp	.LBB0_30
	.p2align	4
.LBB0_31:
	movq	16(%rsp), %r10
	testq	%rbp, %rbp
	jle	.LBB0_52
	movq	-16(%rsp), %rax
	movq	%rax, -112(%rsp)
	xorl	%eax, %eax
	jmp	.LBB0_33
	.p2align	4
.LBB0_51:
	movq	200(%rsp), %rax
	addq	$32768, -112(%rsp)
	addq	$32, %rax
	cmpq	%rbp, %rax
	jge	.LBB0_52
.LBB0_33:
	cmpq	$0, -120(%rsp)
	movq	%rax, 200(%rsp)
	leaq	(%r11,%rax,4), %rax
	movq	%rax, -72(%rsp)
	jle	.LBB0_39
	movq	136(%rsp), %r11
	xorl	%r15d, %r15d
	jmp	.LBB0_35
	.p2align	4
.LBB0_38:
	movq	16(%rsp), %r10
	movq	208(%rsp), %rcx
	addq	$12, %r15
	addq	$12288, %r11
	vmovaps	%zmm5, (%rdx)
	vmovaps	%zmm6, 64(%rdx)
	vmovaps	%zmm7, (%rdx,%r14,4)
	vmovaps	%zmm8, 64(%rdx,%r14,4)
	vmovaps	%zmm9, (%rdx,%r10,4)
	vmovaps	%zmm10, 64(%rdx,%r10,4)
	vmovaps	%zmm11, (%rdx,%rcx,4)
	vmovaps	%zmm12, 64(%rdx,%rcx,4)
	vmovaps	%zmm13, (%rdx,%r13)
	vmovaps	%zmm14, 64(%rdx,%r13)
	vmovaps	%zmm15, (%rdx,%rbp)
	vmovaps	%zmm16, 64(%rdx,%rbp)
	vmovaps	%zmm17, (%rdx,%r9)
	vmovaps	%zmm18, 64(%rdx,%r9)
	vmovaps	%zmm19, (%rdx,%rax)
	vmovaps	%zmm20, 64(%rdx,%rax)
	vmovaps	%zmm21, (%rdx,%rsi)
	vmovaps	%zmm22, 64(%rdx,%rsi)
	vmovaps	%zmm23, (%rdx,%r12)
	vmovaps	%zmm24, 64(%rdx,%r12)
	vmovaps	%zmm25, (%rdx,%rdi)
	vmovaps	%zmm26, 64(%rdx,%rdi)
	vmovaps	%zmm27, (%rdx,%rbx)
	movq	%rcx, %r12
	vmovaps	%zmm28, 64(%rdx,%rbx)
	cmpq	-120(%rsp), %r15
	jge	.LBB0_39
.LBB0_35:
	movq	216(%rsp), %rdx
	movq	-72(%rsp), %r9
	movq	%r15, %rcx
	imulq	%r14, %rcx
	movq	%rdx, %r13
	movq	%rdx, %rsi
	movq	%rdx, %rdi
	imulq	$896, %rdx, %rax
	imulq	$1408, %rdx, %rbx
	leaq	(%r9,%rcx,4), %rdx
	vmovaps	(%r9,%rcx,4), %zmm5
	vmovaps	64(%r9,%rcx,4), %zmm6
	movq	8(%rsp), %rcx
	shlq	$8, %rdi
	shlq	$9, %r13
	shlq	$10, %rsi
	cmpq	$0, -128(%rsp)
	leaq	(%rdi,%rdi,2), %r9
	leaq	(%rdi,%rdi,4), %rdi
	vmovaps	(%rdx,%r12,4), %zmm11
	vmovaps	64(%rdx,%r12,4), %zmm12
	vmovaps	(%rdx,%r14,4), %zmm7
	vmovaps	64(%rdx,%r14,4), %zmm8
	vmovaps	(%rdx,%r10,4), %zmm9
	vmovaps	64(%rdx,%r10,4), %zmm10
	vmovaps	(%r13,%rdx), %zmm13
	vmovaps	64(%r13,%rdx), %zmm14
	vmovaps	(%rsi,%rdx), %zmm21
	vmovaps	64(%rsi,%rdx), %zmm22
	vmovaps	(%rdx,%r9), %zmm17
	vmovaps	64(%rdx,%r9), %zmm18
	vmovaps	(%rax,%rdx), %zmm19
	vmovaps	64(%rax,%rdx), %zmm20
	vmovaps	(%rdx,%rdi), %zmm25
	vmovaps	64(%rdx,%rdi), %zmm26
	vmovaps	(%rbx,%rdx), %zmm27
	vmovaps	64(%rbx,%rdx), %zmm28
	leaq	(%rcx,%rcx,4), %rbp
	leaq	(%rcx,%rcx,8), %r12
	vmovaps	(%rdx,%rbp), %zmm15
	vmovaps	64(%rdx,%rbp), %zmm16
	vmovaps	(%rdx,%r12), %zmm23
	vmovaps	64(%rdx,%r12), %zmm24
	jle	.LBB0_38
	movq	-112(%rsp), %rcx
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_37:
	vbroadcastss	-9216(%r11,%r10,4), %zmm0
	vmovaps	-64(%rcx), %zmm30
	vmovaps	(%rcx), %zmm29
	vbroadcastss	-11264(%r11,%r10,4), %zmm31
	subq	$-128, %rcx
	vfmadd231ps	%zmm30, %zmm0, %zmm9
	vfmadd231ps	%zmm0, %zmm29, %zmm10
	vbroadcastss	-7168(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm5
	vfmadd231ps	%zmm31, %zmm29, %zmm6
	vbroadcastss	-10240(%r11,%r10,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm13
	vfmadd231ps	%zmm0, %zmm29, %zmm14
	vbroadcastss	-5120(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm7
	vfmadd231ps	%zmm31, %zmm29, %zmm8
	vbroadcastss	-8192(%r11,%r10,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm17
	vfmadd231ps	%zmm0, %zmm29, %zmm18
	vbroadcastss	-4096(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm11
	vfmadd231ps	%zmm31, %zmm29, %zmm12
	vbroadcastss	-6144(%r11,%r10,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm19
	vfmadd231ps	%zmm0, %zmm29, %zmm20
	vbroadcastss	-3072(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm15
	vfmadd231ps	%zmm31, %zmm29, %zmm16
	vbroadcastss	-1024(%r11,%r10,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm21
	vfmadd231ps	%zmm0, %zmm29, %zmm22
	vbroadcastss	-2048(%r11,%r10,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm25
	vfmadd231ps	%zmm31, %zmm29, %zmm26
	vfmadd231ps	%zmm30, %zmm0, %zmm23
	vfmadd231ps	%zmm0, %zmm29, %zmm24
	vbroadcastss	(%r11,%r10,4), %zmm0
	incq	%r10
	vfmadd231ps	%zmm30, %zmm0, %zmm27
	vfmadd231ps	%zmm29, %zmm0, %zmm28
	cmpq	%r8, %r10
	jl	.LBB0_37
	jmp	.LBB0_38
	.p2align	4
.LBB0_39:
	movq	160(%rsp), %r9
	movq	176(%rsp), %r13
	movq	168(%rsp), %rbp
	cmpq	%r9, -120(%rsp)
	jge	.LBB0_45
	movq	120(%rsp), %rax
	movq	-120(%rsp), %rcx
	jmp	.LBB0_41
	.p2align	4
.LBB0_44:
	addq	$4, %rcx
	addq	$4096, %rax
	vmovaps	%zmm5, (%rdx)
	vmovaps	%zmm6, 64(%rdx)
	vmovaps	%zmm7, (%rdx,%r14,4)
	vmovaps	%zmm8, 64(%rdx,%r14,4)
	vmovaps	%zmm9, (%rdx,%r10,4)
	vmovaps	%zmm10, 64(%rdx,%r10,4)
	vmovaps	%zmm11, (%rdx,%r12,4)
	vmovaps	%zmm12, 64(%rdx,%r12,4)
	cmpq	%r9, %rcx
	jge	.LBB0_45
.LBB0_41:
	movq	-72(%rsp), %rdi
	movq	%rcx, %rsi
	imulq	%r14, %rsi
	cmpq	$0, -128(%rsp)
	leaq	(%rdi,%rsi,4), %rdx
	vmovaps	(%rdi,%rsi,4), %zmm5
	vmovaps	64(%rdi,%rsi,4), %zmm6
	vmovaps	(%rdx,%r14,4), %zmm7
	vmovaps	64(%rdx,%r14,4), %zmm8
	vmovaps	(%rdx,%r10,4), %zmm9
	vmovaps	64(%rdx,%r10,4), %zmm10
	vmovaps	(%rdx,%r12,4), %zmm11
	vmovaps	64(%rdx,%r12,4), %zmm12
	jle	.LBB0_44
	movq	-112(%rsp), %rsi
	xorl	%edi, %edi
	.p2align	4
.LBB0_43:
	vbroadcastss	-3072(%rax,%rdi,4), %zmm14
	vbroadcastss	-2048(%rax,%rdi,4), %zmm17
	vbroadcastss	-1024(%rax,%rdi,4), %zmm15
	vbroadcastss	(%rax,%rdi,4), %zmm16
	vmovaps	-64(%rsi), %zmm0
	vmovaps	(%rsi), %zmm13
	incq	%rdi
	subq	$-128, %rsi
	vfmadd231ps	%zmm0, %zmm14, %zmm5
	vfmadd231ps	%zmm14, %zmm13, %zmm6
	vfmadd231ps	%zmm0, %zmm17, %zmm7
	vfmadd231ps	%zmm17, %zmm13, %zmm8
	vfmadd231ps	%zmm0, %zmm15, %zmm9
	vfmadd231ps	%zmm15, %zmm13, %zmm10
	vfmadd231ps	%zmm0, %zmm16, %zmm11
	vfmadd231ps	%zmm13, %zmm16, %zmm12
	cmpq	%r8, %rdi
	jl	.LBB0_43
	jmp	.LBB0_44
	.p2align	4
.LBB0_45:
	movq	152(%rsp), %r11
	movq	192(%rsp), %rbx
	movq	184(%rsp), %r15
	movq	-72(%rsp), %rsi
	cmpq	%r13, %r9
	jge	.LBB0_51
	movq	128(%rsp), %rax
	movq	%r9, %rcx
	jmp	.LBB0_47
	.p2align	4
.LBB0_50:
	incq	%rcx
	addq	$1024, %rax
	vmovaps	%zmm5, (%r9,%rdx,4)
	vmovaps	%zmm6, 64(%r9,%rdx,4)
	movq	%r9, %rsi
	cmpq	%r13, %rcx
	jge	.LBB0_51
.LBB0_47:
	movq	%rcx, %rdx
	imulq	%r14, %rdx
	cmpq	$0, -128(%rsp)
	movq	%rsi, %r9
	vmovaps	(%rsi,%rdx,4), %zmm5
	vmovaps	64(%rsi,%rdx,4), %zmm6
	jle	.LBB0_50
	movq	-112(%rsp), %rsi
	xorl	%edi, %edi
	.p2align	4
.LBB0_49:
	vbroadcastss	(%rax,%rdi,4), %zmm0
	incq	%rdi
	vfmadd231ps	-64(%rsi), %zmm0, %zmm5
	vfmadd231ps	(%rsi), %zmm0, %zmm6
	subq	$-128, %rsi
	cmpq	%r8, %rdi
	jl	.LBB0_49
	jmp	.LBB0_50
	.p2align	4
.LBB0_53:
	movq	88(%rsp), %r8
	vxorps	%xmm5, %xmm5, %xmm5
	testq	%r13, %r13
	jle	.LBB0_59
	imulq	24(%rsp), %r15
	imulq	-32(%rsp), %rbx
	movq	%r11, %rax
	xorl	%ecx, %ecx
	addq	%rbx, %r15
	addq	48(%rsp), %r15
	addq	56(%rsp), %rbx
	jmp	.LBB0_55
	.p2align	4
.LBB0_58:
	addq	8(%rsp), %rax
	addq	(%rsp), %r15
	incq	%rcx
	cmpq	%r13, %rcx
	jge	.LBB0_59
.LBB0_55:
	testq	%rbp, %rbp
	jle	.LBB0_58
	movq	%rbp, %rdx
	xorl	%esi, %esi
	.p2align	4
.LBB0_57:
	vpbroadcastq	%rdx, %zmm0
	addq	$-16, %rdx
	vpcmpgtq	%zmm1, %zmm0, %k0
	vpcmpgtq	%zmm2, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%rbx,%rsi,4), %zmm0 {%k1} {z}
	vaddps	(%rax,%rsi,4), %zmm0, %zmm0
	vmovups	%zmm0, (%r15,%rsi,4) {%k1}
	addq	$16, %rsi
	cmpq	%rbp, %rsi
	jl	.LBB0_57
	jmp	.LBB0_58
.LBB0_60:
	addq	$224, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_c0ef080e3183b4d6, .Lfunc_end0-halftone_c0ef080e3183b4d6

	.section	".note.GNU-stack","",@progbits

# be4010268a90a8e2f3d3197f928c0fa46707e0a08f68ea8575b9c0b2b93cedc8: row_5f59fd8aa860d04b
	.file	"kernel"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_0:
	.long	0xff800000
.LCPI0_3:
	.long	0x42b20000
.LCPI0_4:
	.long	0xc2d00000
.LCPI0_5:
	.long	0xcb400000
.LCPI0_6:
	.long	0x3fb8aa3b
.LCPI0_7:
	.long	3032481792
.LCPI0_8:
	.long	0xbf318000
.LCPI0_9:
	.long	0x395e8083
.LCPI0_10:
	.long	0x3950928b
.LCPI0_11:
	.long	0x3ab6a1a7
.LCPI0_12:
	.long	0x3c088870
.LCPI0_13:
	.long	0x3d2aaa74
.LCPI0_14:
	.long	0x3e2aaaab
.LCPI0_15:
	.long	0x3f000000
.LCPI0_16:
	.long	0x3f800000
.LCPI0_18:
	.long	10
.LCPI0_19:
	.long	0x7fc00000
.LCPI0_20:
	.long	0x3d000000
.LCPI0_21:
	.long	0x80000000
.LCPI0_22:
	.long	0x00800000
.LCPI0_23:
	.long	0x4c000000
.LCPI0_24:
	.long	0x41c80000
.LCPI0_25:
	.long	0xbf800000
.LCPI0_26:
	.long	0x40000000
.LCPI0_27:
	.long	0x3e789e26
.LCPI0_28:
	.long	0x3e91e9ee
.LCPI0_29:
	.long	0x3eccce13
.LCPI0_30:
	.long	0x3f2aaaaa
.LCPI0_31:
	.long	0x3717f7d1
.LCPI0_32:
	.long	0x3f317180
.LCPI0_33:
	.long	0x7f800000
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_1:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_2:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
.LCPI0_17:
	.long	0
	.long	1
	.long	2
	.long	3
	.long	4
	.long	5
	.long	6
	.long	7
	.long	8
	.long	9
	.long	10
	.long	11
	.long	12
	.long	13
	.long	14
	.long	15
	.text
	.globl	halftone_be4010268a90a8e2
	.p2align	4
	.type	halftone_be4010268a90a8e2,@function
halftone_be4010268a90a8e2:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	movq	%rcx, -24(%rsp)
	cmpq	%rcx, %rdx
	jge	.LBB0_26
	movq	8(%rsi), %r9
	movq	16(%rsi), %r15
	movq	%rdx, %rax
	movq	(%rdi), %r12
	movq	8(%rdi), %r10
	movq	16(%rdi), %r11
	movq	24(%rdi), %rdx
	movq	32(%rdi), %rdi
	vbroadcastss	.LCPI0_3(%rip), %zmm4
	vbroadcastss	.LCPI0_4(%rip), %zmm5
	vbroadcastss	.LCPI0_5(%rip), %zmm3
	vbroadcastss	.LCPI0_6(%rip), %zmm7
	vbroadcastss	.LCPI0_8(%rip), %zmm8
	vbroadcastss	.LCPI0_9(%rip), %zmm9
	vbroadcastss	.LCPI0_10(%rip), %zmm21
	vbroadcastss	.LCPI0_11(%rip), %zmm11
	vbroadcastss	.LCPI0_12(%rip), %zmm12
	vbroadcastss	.LCPI0_13(%rip), %zmm13
	vbroadcastss	.LCPI0_14(%rip), %zmm14
	vbroadcastss	.LCPI0_15(%rip), %zmm15
	vbroadcastss	.LCPI0_16(%rip), %zmm17
	vbroadcastss	.LCPI0_19(%rip), %zmm20
	vpbroadcastd	.LCPI0_7(%rip), %zmm16
	vpbroadcastd	.LCPI0_16(%rip), %zmm18
	vmovdqa64	.LCPI0_17(%rip), %zmm19
	vpbroadcastd	.LCPI0_18(%rip), %zmm22
	vmovdqa64	.LCPI0_1(%rip), %zmm27
	vmovdqa64	.LCPI0_2(%rip), %zmm29
	vbroadcastss	.LCPI0_21(%rip), %zmm30
	movq	(%rsi), %rcx
	vxorps	%xmm1, %xmm1, %xmm1
	movq	%r9, %rbx
	imulq	%rax, %rbx
	movq	%r15, -40(%rsp)
	imulq	%r9, %r15
	leaq	(,%r9,4), %r14
	movq	%r9, %rsi
	andq	$-16, %rsi
	movq	%rcx, -32(%rsp)
	leaq	(%rdi,%rbx,4), %rbx
	movq	%r15, %rdi
	imulq	%rax, %rdi
	shlq	$2, %r15
	movq	%r15, -48(%rsp)
	movl	%r9d, %r15d
	andl	$15, %r15d
	leaq	(%r12,%rdi,4), %r12
	leaq	(%rdx,%rdi,4), %rbp
	jmp	.LBB0_2
	.p2align	4
.LBB0_25:
	movq	-48(%rsp), %rcx
	movq	-8(%rsp), %r12
	movq	-16(%rsp), %rbp
	incq	%rax
	addq	%r14, %rbx
	addq	%rcx, %r12
	addq	%rcx, %rbp
	cmpq	-24(%rsp), %rax
	jge	.LBB0_26
.LBB0_2:
	movq	-40(%rsp), %rcx
	movq	-32(%rsp), %rdi
	movq	%rax, %rdx
	imulq	%rcx, %rdx
	addq	%rdx, %rcx
	cmpq	%rcx, %rdi
	cmovlq	%rdi, %rcx
	testq	%r9, %r9
	jle	.LBB0_5
	xorl	%edi, %edi
	.p2align	4
.LBB0_4:
	movl	$0, (%rbx,%rdi,4)
	incq	%rdi
	cmpq	%r9, %rdi
	jl	.LBB0_4
.LBB0_5:
	movq	%rbp, -16(%rsp)
	movq	%r12, -8(%rsp)
	jmp	.LBB0_6
	.p2align	4
.LBB0_24:
	vextractf64x4	$1, %zmm31, %ymm0
	vmovaps	%xmm23, %xmm6
	vmovss	.LCPI0_27(%rip), %xmm26
	vaddps	%ymm0, %ymm31, %ymm0
	vextractf128	$1, %ymm0, %xmm2
	vaddps	%xmm2, %xmm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm2
	vaddps	%xmm2, %xmm0, %xmm0
	vmovshdup	%xmm0, %xmm2
	vaddss	%xmm2, %xmm0, %xmm0
	vmovss	.LCPI0_22(%rip), %xmm2
	vucomiss	%xmm23, %xmm2
	vmulss	.LCPI0_23(%rip), %xmm23, %xmm2
	seta	%dil
	kmovd	%edi, %k1
	vmovss	.LCPI0_24(%rip), %xmm10 {%k1} {z}
	vmovss	%xmm2, %xmm6, %xmm6 {%k1}
	vcmpneq_oqss	.LCPI0_33(%rip), %xmm23, %k1
	vmovd	%xmm6, %edi
	addl	$4913933, %edi
	movl	%edi, %r13d
	shrl	$23, %r13d
	andl	$8388607, %edi
	addl	$-127, %r13d
	addl	$1060439283, %edi
	cmpl	$10, (%r10,%rdx,4)
	vmovd	%edi, %xmm2
	vcvtsi2ss	%r13d, %xmm8, %xmm6
	vaddss	.LCPI0_25(%rip), %xmm2, %xmm2
	vsubss	%xmm10, %xmm6, %xmm6
	vaddss	.LCPI0_26(%rip), %xmm2, %xmm10
	vmulss	.LCPI0_15(%rip), %xmm2, %xmm25
	setb	%dil
	addq	%r14, %r12
	addq	%r14, %rbp
	vdivss	%xmm10, %xmm2, %xmm10
	vmulss	%xmm2, %xmm25, %xmm25
	vmulss	%xmm10, %xmm10, %xmm24
	vfmadd213ss	.LCPI0_28(%rip), %xmm24, %xmm26
	vfmadd213ss	.LCPI0_29(%rip), %xmm24, %xmm26
	vfmadd213ss	.LCPI0_30(%rip), %xmm24, %xmm26
	vmulss	%xmm26, %xmm24, %xmm24
	vxorps	%xmm26, %xmm26, %xmm26
	vfmadd231ss	.LCPI0_31(%rip), %xmm6, %xmm26
	vaddss	%xmm24, %xmm25, %xmm24
	vfmadd213ss	%xmm26, %xmm10, %xmm24
	vsubss	%xmm25, %xmm24, %xmm10
	vmovss	.LCPI0_19(%rip), %xmm24
	vaddss	%xmm2, %xmm10, %xmm2
	vfmadd231ss	.LCPI0_32(%rip), %xmm6, %xmm2
	vmovaps	%xmm23, %xmm6
	vxorps	%xmm10, %xmm10, %xmm10
	vmovss	%xmm2, %xmm6, %xmm6 {%k1}
	vcmpeqss	%xmm10, %xmm23, %k1
	vmovaps	%xmm24, %xmm2
	vmovss	.LCPI0_0(%rip), %xmm2 {%k1}
	vcmpltss	%xmm23, %xmm10, %k1
	vmovss	%xmm6, %xmm2, %xmm2 {%k1}
	kmovd	%edi, %k1
	vsubss	%xmm0, %xmm2, %xmm0
	vmovaps	%xmm24, %xmm2
	vmovss	%xmm0, %xmm2, %xmm2 {%k1}
	vmovss	%xmm2, (%r11,%rdx,4)
	incq	%rdx
.LBB0_6:
	cmpq	%rcx, %rdx
	jge	.LBB0_25
	vbroadcastss	.LCPI0_0(%rip), %zmm23
	cmpq	$16, %r9
	jl	.LBB0_10
	vbroadcastss	.LCPI0_0(%rip), %zmm23
	xorl	%edi, %edi
	.p2align	4
.LBB0_9:
	vmovups	(%r12,%rdi,4), %zmm24
	addq	$16, %rdi
	vcmpltps	%zmm24, %zmm23, %k0
	vcmpunordps	%zmm1, %zmm24, %k1
	korw	%k1, %k0, %k1
	vmovaps	%zmm24, %zmm23 {%k1}
	cmpq	%rsi, %rdi
	jl	.LBB0_9
.LBB0_10:
	movq	%r15, %rdi
	movq	%rsi, %r13
	cmpq	%rsi, %r9
	je	.LBB0_12
	.p2align	4
.LBB0_11:
	vpbroadcastq	%rdi, %zmm24
	addq	$-16, %rdi
	vpcmpgtq	%zmm27, %zmm24, %k0
	vpcmpgtq	%zmm29, %zmm24, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%r12,%r13,4), %zmm24 {%k1} {z}
	addq	$16, %r13
	vcmpltps	%zmm24, %zmm23, %k0
	vcmpunordps	%zmm1, %zmm24, %k2
	korw	%k2, %k0, %k0
	kandw	%k0, %k1, %k1
	vmovaps	%zmm24, %zmm23 {%k1}
	cmpq	%r9, %r13
	jl	.LBB0_11
.LBB0_12:
	vextractf64x4	$1, %zmm23, %ymm24
	vxorps	%xmm0, %xmm0, %xmm0
	vxorps	%xmm31, %xmm31, %xmm31
	vcmpunordps	%ymm0, %ymm24, %k1
	vcmpltps	%ymm24, %ymm23, %k0
	vxorps	%xmm0, %xmm0, %xmm0
	korb	%k1, %k0, %k1
	vblendmps	%ymm24, %ymm23, %ymm23 {%k1}
	vextractf32x4	$1, %ymm23, %xmm24
	vcmpltps	%xmm24, %xmm23, %k0
	vcmpunordps	%xmm0, %xmm24, %k1
	korw	%k1, %k0, %k1
	vblendmps	%xmm24, %xmm23, %xmm28 {%k1}
	vshufpd	$1, %xmm28, %xmm28, %xmm23
	vcmpltps	%xmm23, %xmm28, %k0
	vcmpunordps	%xmm0, %xmm23, %k1
	korw	%k1, %k0, %k1
	vmovaps	%xmm23, %xmm28 {%k1}
	vmovshdup	%xmm28, %xmm23
	vucomiss	%xmm28, %xmm23
	seta	%dil
	vucomiss	%xmm23, %xmm23
	setp	%r13b
	orb	%dil, %r13b
	kmovd	%r13d, %k1
	vmovss	%xmm23, %xmm28, %xmm28 {%k1}
	vxorps	%xmm23, %xmm23, %xmm23
	cmpq	$16, %r9
	jl	.LBB0_15
	vbroadcastss	%xmm28, %zmm24
	xorl	%edi, %edi
	.p2align	4
.LBB0_14:
	vmovups	(%r12,%rdi,4), %zmm25
	vmovaps	%zmm3, %zmm6
	vmovaps	%zmm21, %zmm10
	vsubps	%zmm24, %zmm25, %zmm25
	vcmpltps	%zmm25, %zmm4, %k1
	vmaxps	%zmm25, %zmm5, %zmm0
	vmovaps	%zmm4, %zmm0 {%k1}
	vfmsub231ps	%zmm7, %zmm0, %zmm6
	vaddps	%zmm3, %zmm6, %zmm2
	vpaddd	%zmm16, %zmm6, %zmm26
	vfmadd231ps	%zmm8, %zmm2, %zmm0
	vfmadd231ps	%zmm9, %zmm2, %zmm0
	vfmadd213ps	%zmm11, %zmm0, %zmm10
	vmulps	%zmm0, %zmm0, %zmm2
	vfmadd213ps	%zmm12, %zmm0, %zmm10
	vfmadd213ps	%zmm13, %zmm0, %zmm10
	vfmadd213ps	%zmm14, %zmm0, %zmm10
	vfmadd213ps	%zmm15, %zmm0, %zmm10
	vfmadd213ps	%zmm0, %zmm2, %zmm10
	vpsrad	$1, %zmm26, %zmm2
	vaddps	%zmm17, %zmm10, %zmm0
	vpslld	$23, %zmm2, %zmm10
	vpsubd	%zmm2, %zmm6, %zmm2
	vpbroadcastd	%edi, %zmm6
	vpaddd	%zmm18, %zmm10, %zmm10
	vpslld	$23, %zmm2, %zmm2
	vpaddd	%zmm18, %zmm2, %zmm2
	vmulps	%zmm10, %zmm0, %zmm0
	vmulps	%zmm2, %zmm0, %zmm0
	vpord	%zmm19, %zmm6, %zmm2
	vpcmpeqd	(%r10,%rdx,4){1to16}, %zmm2, %k1
	vaddps	%zmm0, %zmm23, %zmm23
	vmovups	%zmm0, (%r8,%rdi,4)
	addq	$16, %rdi
	vmovaps	%zmm25, %zmm2 {%k1} {z}
	vaddps	%zmm2, %zmm31, %zmm31
	cmpq	%rsi, %rdi
	jl	.LBB0_14
.LBB0_15:
	cmpq	%rsi, %r9
	je	.LBB0_18
	vbroadcastss	%xmm28, %zmm28
	movq	%r15, %r13
	movq	%rsi, %rdi
	.p2align	4
.LBB0_17:
	vpbroadcastq	%r13, %zmm0
	vmovaps	%zmm3, %zmm6
	vmovaps	%zmm21, %zmm25
	addq	$-16, %r13
	vpcmpgtq	%zmm27, %zmm0, %k0
	vpcmpgtq	%zmm29, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%r12,%rdi,4), %zmm0 {%k1} {z}
	vsubps	%zmm28, %zmm0, %zmm0
	vcmpltps	%zmm0, %zmm4, %k2
	vmaxps	%zmm0, %zmm5, %zmm2
	vmovaps	%zmm4, %zmm2 {%k2}
	vfmsub231ps	%zmm7, %zmm2, %zmm6
	vaddps	%zmm3, %zmm6, %zmm10
	vpaddd	%zmm16, %zmm6, %zmm24
	vfmadd231ps	%zmm8, %zmm10, %zmm2
	vfmadd231ps	%zmm9, %zmm10, %zmm2
	vfmadd213ps	%zmm11, %zmm2, %zmm25
	vmulps	%zmm2, %zmm2, %zmm10
	vfmadd213ps	%zmm12, %zmm2, %zmm25
	vfmadd213ps	%zmm13, %zmm2, %zmm25
	vfmadd213ps	%zmm14, %zmm2, %zmm25
	vfmadd213ps	%zmm15, %zmm2, %zmm25
	vfmadd213ps	%zmm2, %zmm10, %zmm25
	vpsrad	$1, %zmm24, %zmm10
	vpslld	$23, %zmm10, %zmm24
	vpsubd	%zmm10, %zmm6, %zmm6
	vpbroadcastd	%edi, %zmm10
	vpaddd	%zmm18, %zmm24, %zmm24
	vpslld	$23, %zmm6, %zmm6
	vpaddd	%zmm18, %zmm6, %zmm6
	vaddps	%zmm17, %zmm25, %zmm2
	vmulps	%zmm24, %zmm2, %zmm2
	vmulps	%zmm6, %zmm2, %zmm2
	vpord	%zmm19, %zmm10, %zmm6
	vpcmpeqd	(%r10,%rdx,4){1to16}, %zmm6, %k2
	vaddps	%zmm2, %zmm23, %zmm23 {%k1}
	vmovups	%zmm2, (%r8,%rdi,4) {%k1}
	addq	$16, %rdi
	vmovaps	%zmm0, %zmm0 {%k2} {z}
	vaddps	%zmm0, %zmm31, %zmm31 {%k1}
	cmpq	%r9, %rdi
	jl	.LBB0_17
.LBB0_18:
	vextractf64x4	$1, %zmm23, %ymm0
	vbroadcastss	.LCPI0_21(%rip), %zmm6
	vaddps	%ymm0, %ymm23, %ymm0
	vextractf128	$1, %ymm0, %xmm2
	vaddps	%xmm2, %xmm0, %xmm0
	vshufpd	$1, %xmm0, %xmm0, %xmm2
	vaddps	%xmm2, %xmm0, %xmm0
	vmovshdup	%xmm0, %xmm2
	vaddss	%xmm2, %xmm0, %xmm23
	cmpq	$16, %r9
	jl	.LBB0_21
	vbroadcastss	%xmm23, %zmm24
	xorl	%edi, %edi
	.p2align	4
.LBB0_20:
	vpbroadcastd	(%r10,%rdx,4), %zmm0
	vpbroadcastd	%edi, %zmm2
	vpord	%zmm19, %zmm2, %zmm2
	vpcmpltud	%zmm22, %zmm0, %k2
	vblendmps	.LCPI0_20(%rip){1to16}, %zmm20, %zmm10 {%k2}
	vpcmpeqd	%zmm2, %zmm0, %k1
	vdivps	%zmm24, %zmm10, %zmm0
	vblendmps	%zmm10, %zmm6, %zmm2 {%k1}
	vfmsub132ps	(%r8,%rdi,4), %zmm2, %zmm0
	vaddps	(%rbx,%rdi,4), %zmm0, %zmm2
	vmovups	%zmm0, (%rbp,%rdi,4)
	vmovups	%zmm2, (%rbx,%rdi,4)
	addq	$16, %rdi
	cmpq	%rsi, %rdi
	jl	.LBB0_20
.LBB0_21:
	cmpq	%rsi, %r9
	je	.LBB0_24
	vbroadcastss	%xmm23, %zmm24
	movq	%r15, %rdi
	movq	%rsi, %r13
	.p2align	4
.LBB0_23:
	vpbroadcastd	(%r10,%rdx,4), %zmm26
	vpbroadcastq	%rdi, %zmm0
	vpbroadcastd	%r13d, %zmm10
	addq	$-16, %rdi
	vpcmpgtq	%zmm27, %zmm0, %k0
	vpcmpgtq	%zmm29, %zmm0, %k1
	vpord	%zmm19, %zmm10, %zmm10
	kunpckbw	%k0, %k1, %k1
	vmovups	(%r8,%r13,4), %zmm2 {%k1} {z}
	vmovups	(%rbx,%r13,4), %zmm6 {%k1} {z}
	vpcmpltud	%zmm22, %zmm26, %k3
	vblendmps	.LCPI0_20(%rip){1to16}, %zmm20, %zmm25 {%k3}
	vpcmpeqd	%zmm10, %zmm26, %k2
	vdivps	%zmm24, %zmm25, %zmm0
	vorps	%zmm30, %zmm25, %zmm10 {%k2} {z}
	vfmadd213ps	%zmm10, %zmm2, %zmm0
	vaddps	%zmm0, %zmm6, %zmm2
	vmovups	%zmm0, (%rbp,%r13,4) {%k1}
	vmovups	%zmm2, (%rbx,%r13,4) {%k1}
	addq	$16, %r13
	cmpq	%r9, %r13
	jl	.LBB0_23
	jmp	.LBB0_24
.LBB0_26:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_be4010268a90a8e2, .Lfunc_end0-halftone_be4010268a90a8e2

	.section	".note.GNU-stack","",@progbits

# 2c3187255ab888a3263ce8744eaf140b21d0027dd26eba6a70fcf6bc5909b599: row_05d8d5f3ca6026d5
	.file	"kernel"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_1:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_2:
	.long	0x3d000000
.LCPI0_3:
	.long	0x42000000
	.text
	.globl	halftone_2c3187255ab888a3
	.p2align	4
	.type	halftone_2c3187255ab888a3,@function
halftone_2c3187255ab888a3:
	cmpq	%rcx, %rdx
	jge	.LBB0_12
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	vmovss	.LCPI0_2(%rip), %xmm0
	vmovss	.LCPI0_3(%rip), %xmm1
	vmovdqa64	.LCPI0_0(%rip), %zmm2
	vmovdqa64	.LCPI0_1(%rip), %zmm3
	movq	(%rsi), %rax
	movq	8(%rsi), %rsi
	movq	(%rdi), %r8
	movq	8(%rdi), %r9
	movq	16(%rdi), %r10
	movq	24(%rdi), %rdi
	movl	$1, %r14d
	movl	%eax, %ebx
	movq	%rax, %r11
	andq	$-16, %r11
	andl	$15, %ebx
	jmp	.LBB0_2
	.p2align	4
.LBB0_10:
	incq	%rdx
	cmpq	%rcx, %rdx
	jge	.LBB0_11
.LBB0_2:
	movq	%rdx, %r15
	imulq	%rsi, %r15
	leaq	(%r15,%rsi), %r12
	testq	%r12, %r12
	cmovgq	%r14, %r12
	jmp	.LBB0_3
	.p2align	4
.LBB0_9:
	vextractf64x4	$1, %zmm4, %ymm5
	vmovss	(%r9), %xmm6
	incq	%r15
	vaddps	%ymm5, %ymm4, %ymm4
	vextractf128	$1, %ymm4, %xmm5
	vaddps	%xmm5, %xmm4, %xmm4
	vshufpd	$1, %xmm4, %xmm4, %xmm5
	vaddps	%xmm5, %xmm4, %xmm4
	vmovshdup	%xmm4, %xmm5
	vaddss	%xmm5, %xmm4, %xmm4
	vmulss	%xmm0, %xmm4, %xmm4
	vfmadd231ss	%xmm1, %xmm4, %xmm6
	vmovss	%xmm4, (%r10)
	vmovss	%xmm6, (%rdi)
.LBB0_3:
	cmpq	%r12, %r15
	jge	.LBB0_10
	vxorps	%xmm4, %xmm4, %xmm4
	cmpq	$16, %rax
	jl	.LBB0_7
	xorl	%r13d, %r13d
	.p2align	4
.LBB0_6:
	vaddps	(%r8,%r13,4), %zmm4, %zmm4
	addq	$16, %r13
	cmpq	%r11, %r13
	jl	.LBB0_6
.LBB0_7:
	movq	%rbx, %r13
	movq	%r11, %rbp
	cmpq	%r11, %rax
	je	.LBB0_9
	.p2align	4
.LBB0_8:
	vpbroadcastq	%r13, %zmm5
	addq	$-16, %r13
	vpcmpgtq	%zmm2, %zmm5, %k0
	vpcmpgtq	%zmm3, %zmm5, %k1
	kunpckbw	%k0, %k1, %k1
	vaddps	(%r8,%rbp,4), %zmm4, %zmm4 {%k1}
	addq	$16, %rbp
	cmpq	%rax, %rbp
	jl	.LBB0_8
	jmp	.LBB0_9
.LBB0_11:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
.LBB0_12:
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_2c3187255ab888a3, .Lfunc_end0-halftone_2c3187255ab888a3

	.section	".note.GNU-stack","",@progbits

# 65da52d6a52c9399401f34b456265e8c791f93fdf58dada55a35013661e4c797: loop_abd0c79dd2de5545
	.file	"kernel"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_0:
	.long	0x42000000
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_1:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_2:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.text
	.globl	halftone_65da52d6a52c9399
	.p2align	4
	.type	halftone_65da52d6a52c9399,@function
halftone_65da52d6a52c9399:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	movq	(%rsi), %r9
	movq	16(%rsi), %r11
	movq	(%rdi), %rbx
	movq	8(%rsi), %r10
	movq	8(%rdi), %rdi
	movq	%rdx, %r8
	leaq	-1(%r11,%r9), %rax
	movq	%rax, %rdx
	orq	%r11, %rdx
	shrq	$32, %rdx
	je	.LBB0_1
	xorl	%edx, %edx
	divq	%r11
	movq	%rax, %rsi
	cmpq	%rcx, %r8
	jl	.LBB0_4
	jmp	.LBB0_15
.LBB0_1:
	xorl	%edx, %edx
	divl	%r11d
	movl	%eax, %esi
	cmpq	%rcx, %r8
	jge	.LBB0_15
.LBB0_4:
	vbroadcastss	.LCPI0_0(%rip), %zmm0
	vmovdqa64	.LCPI0_1(%rip), %zmm1
	vmovdqa64	.LCPI0_2(%rip), %zmm2
	jmp	.LBB0_5
	.p2align	4
.LBB0_14:
	incq	%r8
	cmpq	%rcx, %r8
	jge	.LBB0_15
.LBB0_5:
	movq	%r8, %rax
	orq	%rsi, %rax
	shrq	$32, %rax
	je	.LBB0_6
	movq	%r8, %rax
	xorl	%edx, %edx
	divq	%rsi
	jmp	.LBB0_8
	.p2align	4
.LBB0_6:
	movl	%r8d, %eax
	xorl	%edx, %edx
	divl	%esi
.LBB0_8:
	imulq	%r11, %rdx
	movl	$1, %r14d
	leaq	(%rdx,%r11), %r13
	cmpq	%r13, %r9
	cmovlq	%r9, %r13
	imulq	%r10, %rax
	leaq	(%rax,%r10), %r12
	testq	%r12, %r12
	cmovgq	%r14, %r12
	cmpq	%r12, %rax
	jge	.LBB0_14
	movq	%r13, %r14
	subq	%rdx, %r14
	andq	$-16, %r14
	addq	%rdx, %r14
	jmp	.LBB0_10
	.p2align	4
.LBB0_13:
	incq	%rax
	cmpq	%r12, %rax
	jge	.LBB0_14
.LBB0_10:
	movq	%rdx, %rbp
	cmpq	%r14, %rdx
	jge	.LBB0_11
	.p2align	4
.LBB0_16:
	vaddps	(%rbx,%rbp,4), %zmm0, %zmm3
	vmovups	%zmm3, (%rdi,%rbp,4)
	addq	$16, %rbp
	cmpq	%r14, %rbp
	jl	.LBB0_16
.LBB0_11:
	movq	%r14, %rbp
	cmpq	%r13, %r14
	jge	.LBB0_13
	.p2align	4
.LBB0_12:
	movq	%r13, %r15
	subq	%rbp, %r15
	vpbroadcastq	%r15, %zmm3
	vpcmpgtq	%zmm1, %zmm3, %k0
	vpcmpgtq	%zmm2, %zmm3, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%rbx,%rbp,4), %zmm3 {%k1} {z}
	vaddps	%zmm0, %zmm3, %zmm3
	vmovups	%zmm3, (%rdi,%rbp,4) {%k1}
	addq	$16, %rbp
	cmpq	%r13, %rbp
	jl	.LBB0_12
	jmp	.LBB0_13
.LBB0_15:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_65da52d6a52c9399, .Lfunc_end0-halftone_65da52d6a52c9399

	.section	".note.GNU-stack","",@progbits

# a484da073f709f068abade676b34ed3582f23724acdf8d381c03b4043bf6d4d1: row_aabea611ce03024e
	.file	"kernel"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_0:
	.long	2147483647
.LCPI0_1:
	.long	0xff800000
.LCPI0_5:
	.long	0x3f800000
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_2:
	.long	0
	.long	1
	.long	2
	.long	3
	.long	4
	.long	5
	.long	6
	.long	7
	.long	8
	.long	9
	.long	10
	.long	11
	.long	12
	.long	13
	.long	14
	.long	15
.LCPI0_3:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_4:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.text
	.globl	halftone_a484da073f709f06
	.p2align	4
	.type	halftone_a484da073f709f06,@function
halftone_a484da073f709f06:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	movq	%rcx, -16(%rsp)
	cmpq	%rcx, %rdx
	jge	.LBB0_11
	movq	(%rsi), %rax
	movq	8(%rsi), %r11
	movq	16(%rsi), %rsi
	vbroadcastss	.LCPI0_1(%rip), %zmm1
	movq	(%rdi), %rcx
	vpbroadcastd	.LCPI0_0(%rip), %zmm0
	vmovdqa64	.LCPI0_2(%rip), %zmm2
	vmovdqa64	.LCPI0_3(%rip), %zmm6
	vmovdqa64	.LCPI0_4(%rip), %zmm7
	movq	8(%rdi), %r9
	movq	16(%rdi), %rdi
	kshiftrb	$2, %k0, %k0
	vxorps	%xmm3, %xmm3, %xmm3
	vxorps	%xmm4, %xmm4, %xmm4
	vxorps	%xmm5, %xmm5, %xmm5
	kshiftlb	$2, %k0, %k0
	movq	%rsi, -32(%rsp)
	imulq	%r11, %rsi
	movq	%r11, %r8
	andq	$-16, %r8
	movq	%rax, -24(%rsp)
	movq	%rsi, %r10
	imulq	%rdx, %r10
	shlq	$2, %rsi
	movq	%rsi, -40(%rsp)
	leaq	(%rcx,%r10,4), %rcx
	movq	%rcx, -48(%rsp)
	movl	%r11d, %ecx
	andl	$15, %ecx
	jmp	.LBB0_2
	.p2align	4
.LBB0_10:
	movq	-8(%rsp), %rdx
	movq	-48(%rsp), %rax
	addq	-40(%rsp), %rax
	incq	%rdx
	movq	%rax, -48(%rsp)
	cmpq	-16(%rsp), %rdx
	jge	.LBB0_11
.LBB0_2:
	movq	-32(%rsp), %rax
	movq	%rdx, %r12
	movq	%rdx, -8(%rsp)
	movq	-24(%rsp), %rdx
	imulq	%rax, %r12
	leaq	(%r12,%rax), %r13
	cmpq	%r13, %rdx
	cmovlq	%rdx, %r13
	leaq	(,%r11,4), %rdx
	cmpq	%r13, %r12
	jge	.LBB0_10
	movq	-48(%rsp), %rbp
	jmp	.LBB0_4
	.p2align	4
.LBB0_9:
	vextractf64x4	$1, %zmm9, %ymm10
	vcmpordps	%ymm4, %ymm9, %k3
	vextracti64x4	$1, %zmm8, %ymm11
	vcmpunordps	%ymm4, %ymm10, %k2
	vcmpltps	%ymm10, %ymm9, %k1
	kandb	%k3, %k2, %k4
	korb	%k2, %k3, %k2
	vcmpnltps	%ymm9, %ymm10, %k2 {%k2}
	korb	%k4, %k1, %k1
	vpcmpgtd	%ymm11, %ymm8, %k2 {%k2}
	korb	%k2, %k1, %k1
	vblendmps	%ymm10, %ymm9, %ymm9 {%k1}
	vpblendmd	%ymm11, %ymm8, %ymm8 {%k1}
	vextractf128	$1, %ymm9, %xmm10
	vcmpordps	%xmm5, %xmm9, %k3
	vextracti128	$1, %ymm8, %xmm11
	vcmpunordps	%xmm5, %xmm10, %k2
	vcmpltps	%xmm10, %xmm9, %k1
	kandw	%k3, %k2, %k4
	korw	%k2, %k3, %k2
	vcmpnltps	%xmm9, %xmm10, %k2 {%k2}
	korw	%k4, %k1, %k1
	vpcmpgtd	%xmm11, %xmm8, %k2 {%k2}
	korw	%k2, %k1, %k1
	vblendmps	%xmm10, %xmm9, %xmm9 {%k1}
	vpblendmd	%xmm11, %xmm8, %xmm8 {%k1}
	vshufpd	$1, %xmm9, %xmm9, %xmm10
	vcmpordps	%xmm5, %xmm9, %k3
	vpshufd	$238, %xmm8, %xmm11
	vcmpunordps	%xmm5, %xmm10, %k2
	vcmpltps	%xmm10, %xmm9, %k1
	kandw	%k3, %k2, %k4
	korw	%k2, %k3, %k2
	vpcmpgtd	%xmm11, %xmm8, %k3
	korw	%k4, %k1, %k1
	vcmpnltps	%xmm9, %xmm10, %k4
	kandw	%k2, %k4, %k2
	kandw	%k3, %k2, %k2
	korw	%k2, %k1, %k1
	kshiftlb	$6, %k1, %k1
	kshiftrb	$6, %k1, %k1
	korw	%k1, %k0, %k1
	vmovaps	%xmm10, %xmm9 {%k1}
	vmovshdup	%xmm9, %xmm10
	vmovdqa32	%xmm11, %xmm8 {%k1}
	vmovd	%xmm8, %r10d
	vpextrd	$1, %xmm8, %r15d
	vucomiss	%xmm9, %xmm10
	seta	%al
	vucomiss	%xmm10, %xmm10
	setp	%r14b
	vucomiss	%xmm9, %xmm9
	movl	%r14d, %esi
	setnp	%bl
	andb	%bl, %sil
	orb	%al, %sil
	vucomiss	%xmm10, %xmm9
	setbe	%al
	orb	%r14b, %bl
	cmpl	%r10d, %r15d
	setl	%r14b
	andb	%al, %r14b
	andb	%bl, %r14b
	orb	%sil, %r14b
	cmovnel	%r15d, %r10d
	cmpl	%r10d, (%r9,%r12,4)
	sete	%al
	addq	%rdx, %rbp
	kmovd	%eax, %k1
	vmovss	.LCPI0_5(%rip), %xmm8 {%k1} {z}
	vmovss	%xmm8, (%rdi,%r12,4)
	incq	%r12
	cmpq	%r13, %r12
	jge	.LBB0_10
.LBB0_4:
	vmovaps	%zmm1, %zmm9
	vmovdqa64	%zmm0, %zmm8
	cmpq	$16, %r11
	jl	.LBB0_7
	vmovdqa64	%zmm0, %zmm8
	vmovaps	%zmm1, %zmm9
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_6:
	vmovups	(%rbp,%r10,4), %zmm10
	vcmpordps	%zmm3, %zmm9, %k3
	vpbroadcastd	%r10d, %zmm11
	addq	$16, %r10
	vpord	%zmm2, %zmm11, %zmm11
	vcmpunordps	%zmm3, %zmm10, %k2
	vcmpltps	%zmm10, %zmm9, %k1
	kandw	%k3, %k2, %k4
	korw	%k2, %k3, %k2
	vcmpnltps	%zmm9, %zmm10, %k2 {%k2}
	korw	%k4, %k1, %k1
	vpcmpgtd	%zmm11, %zmm8, %k2 {%k2}
	korw	%k2, %k1, %k1
	vmovaps	%zmm10, %zmm9 {%k1}
	vmovdqa32	%zmm11, %zmm8 {%k1}
	cmpq	%r8, %r10
	jl	.LBB0_6
.LBB0_7:
	movq	%rcx, %r15
	movq	%r8, %r10
	cmpq	%r8, %r11
	je	.LBB0_9
	.p2align	4
.LBB0_8:
	vpbroadcastq	%r15, %zmm10
	vcmpordps	%zmm3, %zmm9, %k4
	vpbroadcastd	%r10d, %zmm11
	addq	$-16, %r15
	vpcmpgtq	%zmm6, %zmm10, %k1
	vpcmpgtq	%zmm7, %zmm10, %k2
	vpord	%zmm2, %zmm11, %zmm11
	kunpckbw	%k1, %k2, %k1
	vmovups	(%rbp,%r10,4), %zmm10 {%k1} {z}
	addq	$16, %r10
	vcmpunordps	%zmm3, %zmm10, %k3
	vcmpltps	%zmm10, %zmm9, %k2
	kandw	%k4, %k3, %k5
	korw	%k3, %k4, %k3
	vcmpnltps	%zmm9, %zmm10, %k3 {%k3}
	korw	%k5, %k2, %k2
	vpcmpgtd	%zmm11, %zmm8, %k3 {%k3}
	korw	%k3, %k2, %k2
	kandw	%k2, %k1, %k1
	vmovaps	%zmm10, %zmm9 {%k1}
	vmovdqa32	%zmm11, %zmm8 {%k1}
	cmpq	%r11, %r10
	jl	.LBB0_8
	jmp	.LBB0_9
.LBB0_11:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_a484da073f709f06, .Lfunc_end0-halftone_a484da073f709f06

	.section	".note.GNU-stack","",@progbits

# c9d714332cc7b9dfbd55212f9dfed680e4c26616911ab9a560f07d1129506cc2: row_bd9196240c5107eb
	.file	"kernel"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_1:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.text
	.globl	halftone_c9d714332cc7b9df
	.p2align	4
	.type	halftone_c9d714332cc7b9df,@function
halftone_c9d714332cc7b9df:
	cmpq	%rcx, %rdx
	jge	.LBB0_12
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	vmovdqa64	.LCPI0_0(%rip), %zmm0
	vmovdqa64	.LCPI0_1(%rip), %zmm1
	movq	(%rsi), %rax
	movq	8(%rsi), %rsi
	movq	(%rdi), %r8
	movq	8(%rdi), %r9
	movq	16(%rdi), %rdi
	movl	$1, %ebx
	movl	%eax, %r11d
	movq	%rax, %r10
	andq	$-16, %r10
	andl	$15, %r11d
	jmp	.LBB0_2
	.p2align	4
.LBB0_10:
	incq	%rdx
	cmpq	%rcx, %rdx
	jge	.LBB0_11
.LBB0_2:
	movq	%rdx, %r14
	imulq	%rsi, %r14
	leaq	(%r14,%rsi), %r15
	testq	%r15, %r15
	cmovgq	%rbx, %r15
	jmp	.LBB0_3
	.p2align	4
.LBB0_9:
	vextractf64x4	$1, %zmm2, %ymm3
	incq	%r14
	vaddps	%ymm3, %ymm2, %ymm2
	vextractf128	$1, %ymm2, %xmm3
	vaddps	%xmm3, %xmm2, %xmm2
	vshufpd	$1, %xmm2, %xmm2, %xmm3
	vaddps	%xmm3, %xmm2, %xmm2
	vmovshdup	%xmm2, %xmm3
	vaddss	%xmm3, %xmm2, %xmm2
	vaddss	(%r9), %xmm2, %xmm2
	vmovss	%xmm2, (%rdi)
.LBB0_3:
	cmpq	%r15, %r14
	jge	.LBB0_10
	vxorps	%xmm2, %xmm2, %xmm2
	cmpq	$16, %rax
	jl	.LBB0_7
	xorl	%r12d, %r12d
	.p2align	4
.LBB0_6:
	vaddps	(%r8,%r12,4), %zmm2, %zmm2
	addq	$16, %r12
	cmpq	%r10, %r12
	jl	.LBB0_6
.LBB0_7:
	movq	%r11, %r12
	movq	%r10, %r13
	cmpq	%r10, %rax
	je	.LBB0_9
	.p2align	4
.LBB0_8:
	vpbroadcastq	%r12, %zmm3
	addq	$-16, %r12
	vpcmpgtq	%zmm0, %zmm3, %k0
	vpcmpgtq	%zmm1, %zmm3, %k1
	kunpckbw	%k0, %k1, %k1
	vaddps	(%r8,%r13,4), %zmm2, %zmm2 {%k1}
	addq	$16, %r13
	cmpq	%rax, %r13
	jl	.LBB0_8
	jmp	.LBB0_9
.LBB0_11:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
.LBB0_12:
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_c9d714332cc7b9df, .Lfunc_end0-halftone_c9d714332cc7b9df

	.section	".note.GNU-stack","",@progbits

# 3a3ac53760181b43e945173238052dbe7a505aa31297e0cf8cf6db7512730bcd: matmul_af99c6b60eacb3e4
	.file	"kernel"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_1:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
.LCPI0_2:
	.long	0
	.long	16
	.long	1
	.long	17
	.long	2
	.long	18
	.long	3
	.long	19
	.long	4
	.long	20
	.long	5
	.long	21
	.long	6
	.long	22
	.long	7
	.long	23
.LCPI0_3:
	.long	8
	.long	24
	.long	9
	.long	25
	.long	10
	.long	26
	.long	11
	.long	27
	.long	12
	.long	28
	.long	13
	.long	29
	.long	14
	.long	30
	.long	15
	.long	31
	.text
	.globl	halftone_3a3ac53760181b43
	.p2align	4
	.type	halftone_3a3ac53760181b43,@function
halftone_3a3ac53760181b43:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$272, %rsp
	movq	%r8, -88(%rsp)
	movq	%rdx, %r8
	movq	8(%rdi), %rdx
	movq	(%rdi), %r10
	movq	(%rsi), %rax
	movq	24(%rsi), %r15
	movq	8(%rsi), %r9
	movq	16(%rsi), %r13
	movq	32(%rsi), %rsi
	movq	%rcx, -72(%rsp)
	movq	%rdx, 152(%rsp)
	movq	24(%rdi), %rdx
	movq	%r10, 72(%rsp)
	movq	16(%rdi), %r10
	movq	32(%rdi), %rdi
	movq	%rax, 120(%rsp)
	leaq	-1(%rax,%r15), %rax
	movq	%rdx, 56(%rsp)
	movq	%rax, %rdx
	orq	%r15, %rdx
	movq	%r10, 64(%rsp)
	movq	%rdi, 48(%rsp)
	shrq	$32, %rdx
	je	.LBB0_1
	cqto
	idivq	%r15
	movq	%rax, %rdi
	jmp	.LBB0_3
.LBB0_1:
	xorl	%edx, %edx
	divl	%r15d
	movl	%eax, %edi
.LBB0_3:
	leaq	-1(%r9,%rsi), %rax
	movq	%rax, %rcx
	orq	%rsi, %rcx
	shrq	$32, %rcx
	je	.LBB0_4
	cqto
	idivq	%rsi
	movq	%rax, %r10
	jmp	.LBB0_6
.LBB0_4:
	xorl	%edx, %edx
	divl	%esi
	movl	%eax, %r10d
.LBB0_6:
	leaq	31(%rsi), %rax
	leaq	62(%rsi), %rdx
	leaq	15(%r15), %rcx
	testq	%rax, %rax
	cmovnsq	%rax, %rdx
	leaq	30(%r15), %rax
	testq	%rcx, %rcx
	cmovnsq	%rcx, %rax
	cmpq	-72(%rsp), %r8
	jge	.LBB0_93
	movq	-88(%rsp), %r14
	shrq	$4, %rax
	movq	%rdx, %rbx
	sarq	$5, %rbx
	andq	$-32, %rdx
	vmovdqa64	.LCPI0_0(%rip), %zmm1
	vmovdqa64	.LCPI0_1(%rip), %zmm2
	vmovaps	.LCPI0_2(%rip), %zmm3
	vmovaps	.LCPI0_3(%rip), %zmm4
	vxorps	%xmm0, %xmm0, %xmm0
	movq	%rdi, 88(%rsp)
	movq	%r10, 80(%rsp)
	movq	%r9, 112(%rsp)
	movq	%rsi, 96(%rsp)
	movq	%r13, 216(%rsp)
	shlq	$14, %rax
	movq	%rdx, %r11
	movq	%rbx, %rcx
	shlq	$15, %rcx
	movq	%rbx, 248(%rsp)
	movq	%r11, -16(%rsp)
	leaq	(%r14,%rax), %rdx
	leaq	64(%rax,%r14), %rax
	leaq	1024(%rcx,%rdx), %r12
	leaq	(%rdx,%rcx), %rbp
	movq	%rbx, %rcx
	shlq	$5, %rcx
	movq	%rdx, 240(%rsp)
	movq	%rbx, %rdx
	shlq	$6, %rdx
	leaq	(%rcx,%rcx,2), %rcx
	movq	%rax, 160(%rsp)
	leaq	3072(%r14), %rax
	movq	%rdx, (%rsp)
	movq	%rbp, -32(%rsp)
	movq	%rax, 32(%rsp)
	movq	%rbx, %rax
	shlq	$7, %rax
	movq	%r15, %rbx
	movq	%rbx, 104(%rsp)
	movq	%r12, -40(%rsp)
	movq	%rcx, -8(%rsp)
	movq	%r15, %rcx
	imulq	%r13, %rcx
	movq	%rax, -24(%rsp)
	movq	%rbx, %rax
	imulq	%r9, %rax
	movq	%rbp, %r15
	shlq	$2, %rcx
	movq	%rax, 24(%rsp)
	leaq	(,%rax,4), %rax
	movq	%rcx, 40(%rsp)
	leaq	11264(%r14), %rcx
	movq	%r11, %r14
	movq	%rcx, 200(%rsp)
	leaq	(,%rsi,4), %rcx
	movq	%rax, 16(%rsp)
	movq	%rcx, 8(%rsp)
	jmp	.LBB0_8
	.p2align	4
.LBB0_92:
	movq	144(%rsp), %r8
	movq	96(%rsp), %rsi
	movq	88(%rsp), %rdi
	movq	80(%rsp), %r10
	movq	-16(%rsp), %r14
	vxorps	%xmm0, %xmm0, %xmm0
	incq	%r8
	cmpq	-72(%rsp), %r8
	jge	.LBB0_93
.LBB0_8:
	movq	%r8, %rax
	orq	%r10, %rax
	shrq	$32, %rax
	je	.LBB0_9
	movq	%r8, %rax
	cqto
	idivq	%r10
	movq	%rdx, %r10
	jmp	.LBB0_11
	.p2align	4
.LBB0_9:
	movl	%r8d, %eax
	xorl	%edx, %edx
	divl	%r10d
	movl	%edx, %r10d
.LBB0_11:
	movq	%rax, %rcx
	orq	%rdi, %rcx
	movq	%r8, 144(%rsp)
	movq	%rax, 128(%rsp)
	shrq	$32, %rcx
	je	.LBB0_12
	cqto
	idivq	%rdi
	jmp	.LBB0_14
	.p2align	4
.LBB0_12:
	xorl	%edx, %edx
	divl	%edi
.LBB0_14:
	movq	120(%rsp), %r11
	movq	%rdx, %rax
	imulq	%rbx, %rax
	movq	%r10, 136(%rsp)
	imulq	%rsi, %r10
	movq	%rdx, -64(%rsp)
	subq	%rax, %r11
	cmpq	%r11, %rbx
	cmovlq	%rbx, %r11
	subq	%r10, %r9
	cmpq	%r9, %rsi
	movq	%r11, %rax
	cmovlq	%rsi, %r9
	imulq	%r14, %rax
	movq	%r9, -128(%rsp)
	testq	%rax, %rax
	jle	.LBB0_17
	xorl	%ecx, %ecx
	.p2align	4
.LBB0_16:
	vmovaps	%zmm0, (%r12,%rcx,4)
	addq	$16, %rcx
	cmpq	%rax, %rcx
	jl	.LBB0_16
.LBB0_17:
	leaq	(,%r13,4), %r9
	movq	%r11, -112(%rsp)
	testq	%r13, %r13
	jle	.LBB0_55
	movq	-128(%rsp), %rax
	movq	40(%rsp), %rdi
	movq	%r11, %rsi
	leaq	31(%rax), %rcx
	leaq	62(%rax), %rdx
	leaq	-1(%rax), %rbp
	movq	%r11, %rax
	testq	%rcx, %rcx
	movq	%rcx, 168(%rsp)
	cmovnsq	%rcx, %rdx
	movabsq	$3074457345618258603, %rcx
	andq	$-32, %rdx
	movq	%rdx, 208(%rsp)
	imulq	%rcx
	movq	%rdx, %rax
	shrq	$63, %rax
	shrq	%rdx
	addq	%rax, %rdx
	movq	%r11, %rax
	shlq	$2, %rdx
	leaq	(%rdx,%rdx,2), %rcx
	subq	%rcx, %rax
	movq	%rcx, -104(%rsp)
	leaq	3(%rax), %rbx
	testq	%rax, %rax
	cmovnsq	%rax, %rbx
	imulq	-64(%rsp), %rdi
	shlq	$10, %rsi
	shlq	$10, %rax
	movq	%rbx, %rdx
	shrq	$2, %rdx
	andq	$-4, %rbx
	shlq	$12, %rdx
	addq	%rcx, %rbx
	movq	%r13, %rcx
	addq	%rsi, %rdx
	subq	%rax, %rsi
	addq	72(%rsp), %rdi
	addq	32(%rsp), %rsi
	movq	%rbx, 224(%rsp)
	subq	%rax, %rdx
	addq	-88(%rsp), %rdx
	movq	%rdi, -56(%rsp)
	movq	%rsi, 184(%rsp)
	movq	%rdx, 192(%rsp)
	xorl	%edx, %edx
	jmp	.LBB0_19
	.p2align	4
.LBB0_54:
	movq	-48(%rsp), %rdx
	movq	176(%rsp), %rcx
	addq	$1024, -56(%rsp)
	movq	-112(%rsp), %r11
	leaq	(,%r13,4), %r9
	addq	$256, %rdx
	addq	$-256, %rcx
	cmpq	%r13, %rdx
	jge	.LBB0_55
.LBB0_19:
	cmpq	$256, %rcx
	movl	$256, %eax
	movq	%r13, %rsi
	movl	$256, %r12d
	movq	%rcx, 176(%rsp)
	movq	%rdx, -48(%rsp)
	cmovlq	%rcx, %rax
	subq	%rdx, %rsi
	cmpq	$256, %rsi
	movq	%rsi, -120(%rsp)
	cmovlq	%rsi, %r12
	testq	%r11, %r11
	jle	.LBB0_25
	movq	-56(%rsp), %rcx
	movq	-88(%rsp), %rdx
	xorl	%esi, %esi
	jmp	.LBB0_21
	.p2align	4
.LBB0_24:
	incq	%rsi
	addq	$1024, %rdx
	addq	%r9, %rcx
	cmpq	%r11, %rsi
	jge	.LBB0_25
.LBB0_21:
	cmpq	$0, -120(%rsp)
	jle	.LBB0_24
	movq	%rax, %rdi
	xorl	%r8d, %r8d
	.p2align	4
.LBB0_23:
	vpbroadcastq	%rdi, %zmm5
	addq	$-16, %rdi
	vpcmpgtq	%zmm1, %zmm5, %k0
	vpcmpgtq	%zmm2, %zmm5, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%rcx,%r8,4), %zmm5 {%k1} {z}
	vmovaps	%zmm5, (%rdx,%r8,4)
	addq	$16, %r8
	cmpq	%r12, %r8
	jl	.LBB0_23
	jmp	.LBB0_24
	.p2align	4
.LBB0_25:
	cmpq	$32, 168(%rsp)
	jl	.LBB0_33
	movq	152(%rsp), %rax
	movq	-48(%rsp), %rcx
	leaq	(%rax,%rcx,4), %rax
	xorl	%ecx, %ecx
	jmp	.LBB0_27
	.p2align	4
.LBB0_32:
	addq	$16, %rcx
	cmpq	208(%rsp), %rcx
	jge	.LBB0_33
.LBB0_27:
	cmpq	$0, -120(%rsp)
	jle	.LBB0_32
	leaq	31(%rcx), %rdx
	testq	%rcx, %rcx
	movq	%rcx, %rsi
	cmovnsq	%rcx, %rdx
	movq	%rdx, %rdi
	sarq	$5, %rdx
	andq	$-32, %rdi
	subq	%rdi, %rsi
	shlq	$15, %rdx
	xorl	%edi, %edi
	.p2align	4
.LBB0_29:
	movq	%r12, %r9
	subq	%rdi, %r9
	leaq	(%rax,%rdi,4), %r8
	xorl	%r11d, %r11d
	vpbroadcastq	%r9, %zmm5
	.p2align	4
.LBB0_30:
	leaq	(%rcx,%r11), %rbx
	vpcmpgtq	%zmm1, %zmm5, %k0
	vpcmpgtq	%zmm2, %zmm5, %k1
	cmpq	%rbp, %rbx
	kunpckbw	%k0, %k1, %k1
	cmovgeq	%rbp, %rbx
	incq	%r11
	addq	%r10, %rbx
	imulq	%r13, %rbx
	vmovups	(%r8,%rbx,4), %zmm6 {%k1} {z}
	vmovaps	%zmm6, (%r15)
	addq	$64, %r15
	cmpq	$16, %r11
	jl	.LBB0_30
	movq	-32(%rsp), %r15
	movq	%rdi, %r8
	shlq	$7, %r8
	addq	240(%rsp), %r8
	addq	$16, %rdi
	vmovaps	(%r15), %zmm5
	vmovaps	64(%r15), %zmm6
	vmovaps	128(%r15), %zmm12
	vmovaps	192(%r15), %zmm9
	vmovaps	256(%r15), %zmm14
	vmovaps	320(%r15), %zmm17
	vmovaps	384(%r15), %zmm16
	vmovaps	448(%r15), %zmm15
	vmovaps	512(%r15), %zmm8
	vmovaps	576(%r15), %zmm11
	vmovaps	640(%r15), %zmm13
	vmovaps	704(%r15), %zmm18
	vmovaps	768(%r15), %zmm19
	vmovaps	832(%r15), %zmm20
	vmovaps	896(%r15), %zmm21
	vmovaps	960(%r15), %zmm22
	addq	%rdx, %r8
	vmovaps	%zmm5, %zmm7
	vmovaps	%zmm6, %zmm10
	vmovaps	%zmm12, %zmm23
	vpermt2ps	%zmm8, %zmm3, %zmm7
	vpermt2ps	%zmm8, %zmm4, %zmm5
	vmovaps	%zmm14, %zmm8
	vpermt2ps	%zmm11, %zmm3, %zmm10
	vpermt2ps	%zmm11, %zmm4, %zmm6
	vpermt2ps	%zmm13, %zmm3, %zmm23
	vpermt2ps	%zmm13, %zmm4, %zmm12
	vmovaps	%zmm9, %zmm13
	vpermt2ps	%zmm18, %zmm3, %zmm13
	vpermt2ps	%zmm18, %zmm4, %zmm9
	vmovaps	%zmm17, %zmm18
	vpermt2ps	%zmm19, %zmm3, %zmm8
	vpermt2ps	%zmm19, %zmm4, %zmm14
	vmovaps	%zmm16, %zmm19
	vpermt2ps	%zmm20, %zmm3, %zmm18
	vpermt2ps	%zmm20, %zmm4, %zmm17
	vmovaps	%zmm15, %zmm20
	vpermt2ps	%zmm21, %zmm3, %zmm19
	vpermt2ps	%zmm21, %zmm4, %zmm16
	vpermt2ps	%zmm22, %zmm3, %zmm20
	vpermt2ps	%zmm22, %zmm4, %zmm15
	vmovaps	%zmm7, %zmm11
	vmovaps	%zmm10, %zmm21
	vpermt2ps	%zmm8, %zmm3, %zmm11
	vpermt2ps	%zmm8, %zmm4, %zmm7
	vmovaps	%zmm5, %zmm8
	vpermt2ps	%zmm14, %zmm3, %zmm8
	vpermt2ps	%zmm14, %zmm4, %zmm5
	vmovaps	%zmm6, %zmm14
	vpermt2ps	%zmm18, %zmm3, %zmm21
	vpermt2ps	%zmm18, %zmm4, %zmm10
	vmovaps	%zmm12, %zmm18
	vpermt2ps	%zmm17, %zmm3, %zmm14
	vpermt2ps	%zmm17, %zmm4, %zmm6
	vmovaps	%zmm23, %zmm17
	vpermt2ps	%zmm19, %zmm3, %zmm17
	vpermt2ps	%zmm19, %zmm4, %zmm23
	vmovaps	%zmm13, %zmm19
	vpermt2ps	%zmm16, %zmm3, %zmm18
	vpermt2ps	%zmm16, %zmm4, %zmm12
	vpermt2ps	%zmm20, %zmm3, %zmm19
	vpermt2ps	%zmm20, %zmm4, %zmm13
	vmovaps	%zmm9, %zmm20
	vpermt2ps	%zmm15, %zmm3, %zmm20
	vpermt2ps	%zmm15, %zmm4, %zmm9
	vmovaps	%zmm11, %zmm15
	vmovaps	%zmm7, %zmm16
	vpermt2ps	%zmm17, %zmm3, %zmm15
	vpermt2ps	%zmm17, %zmm4, %zmm11
	vmovaps	%zmm8, %zmm17
	vpermt2ps	%zmm23, %zmm3, %zmm16
	vpermt2ps	%zmm23, %zmm4, %zmm7
	vpermt2ps	%zmm18, %zmm3, %zmm17
	vpermt2ps	%zmm18, %zmm4, %zmm8
	vmovaps	%zmm5, %zmm18
	vpermt2ps	%zmm12, %zmm3, %zmm18
	vpermt2ps	%zmm12, %zmm4, %zmm5
	vmovaps	%zmm21, %zmm12
	vpermt2ps	%zmm19, %zmm3, %zmm12
	vpermt2ps	%zmm19, %zmm4, %zmm21
	vmovaps	%zmm10, %zmm19
	vpermt2ps	%zmm13, %zmm3, %zmm19
	vpermt2ps	%zmm13, %zmm4, %zmm10
	vmovaps	%zmm14, %zmm13
	vpermt2ps	%zmm20, %zmm3, %zmm13
	vpermt2ps	%zmm20, %zmm4, %zmm14
	vmovaps	%zmm6, %zmm20
	vpermt2ps	%zmm9, %zmm3, %zmm20
	vpermt2ps	%zmm9, %zmm4, %zmm6
	vmovaps	%zmm15, %zmm9
	vpermt2ps	%zmm12, %zmm3, %zmm9
	vpermt2ps	%zmm12, %zmm4, %zmm15
	vmovaps	%zmm11, %zmm12
	vpermt2ps	%zmm21, %zmm3, %zmm12
	vpermt2ps	%zmm21, %zmm4, %zmm11
	vmovaps	%zmm16, %zmm21
	vpermt2ps	%zmm19, %zmm3, %zmm21
	vpermt2ps	%zmm19, %zmm4, %zmm16
	vmovaps	%zmm7, %zmm19
	vpermt2ps	%zmm10, %zmm3, %zmm19
	vpermt2ps	%zmm10, %zmm4, %zmm7
	vmovaps	%zmm17, %zmm10
	vpermt2ps	%zmm13, %zmm3, %zmm10
	vpermt2ps	%zmm13, %zmm4, %zmm17
	vmovaps	%zmm8, %zmm13
	vpermt2ps	%zmm14, %zmm3, %zmm13
	vpermt2ps	%zmm14, %zmm4, %zmm8
	vmovaps	%zmm18, %zmm14
	vpermt2ps	%zmm20, %zmm3, %zmm14
	vpermt2ps	%zmm20, %zmm4, %zmm18
	vmovaps	%zmm5, %zmm20
	vpermt2ps	%zmm6, %zmm3, %zmm20
	vpermt2ps	%zmm6, %zmm4, %zmm5
	vmovaps	%zmm9, (%r8,%rsi,4)
	vmovaps	%zmm15, 128(%r8,%rsi,4)
	vmovaps	%zmm12, 256(%r8,%rsi,4)
	vmovaps	%zmm11, 384(%r8,%rsi,4)
	vmovaps	%zmm21, 512(%r8,%rsi,4)
	vmovaps	%zmm16, 640(%r8,%rsi,4)
	vmovaps	%zmm19, 768(%r8,%rsi,4)
	vmovaps	%zmm7, 896(%r8,%rsi,4)
	vmovaps	%zmm10, 1024(%r8,%rsi,4)
	vmovaps	%zmm17, 1152(%r8,%rsi,4)
	vmovaps	%zmm13, 1280(%r8,%rsi,4)
	vmovaps	%zmm8, 1408(%r8,%rsi,4)
	vmovaps	%zmm14, 1536(%r8,%rsi,4)
	vmovaps	%zmm18, 1664(%r8,%rsi,4)
	vmovaps	%zmm20, 1792(%r8,%rsi,4)
	vmovaps	%zmm5, 1920(%r8,%rsi,4)
	cmpq	%r12, %rdi
	jl	.LBB0_29
	jmp	.LBB0_32
	.p2align	4
.LBB0_33:
	cmpq	$0, -128(%rsp)
	jle	.LBB0_54
	movq	160(%rsp), %rax
	xorl	%ecx, %ecx
	movq	%rax, -96(%rsp)
	jmp	.LBB0_35
	.p2align	4
.LBB0_53:
	movq	232(%rsp), %rcx
	addq	$32768, -96(%rsp)
	addq	$32, %rcx
	cmpq	-128(%rsp), %rcx
	jge	.LBB0_54
.LBB0_35:
	movq	-40(%rsp), %rax
	cmpq	$0, -104(%rsp)
	movq	(%rsp), %rbx
	movq	-8(%rsp), %r9
	movq	%rcx, 232(%rsp)
	leaq	(%rax,%rcx,4), %rax
	movq	%rax, -80(%rsp)
	jle	.LBB0_41
	movq	200(%rsp), %rdx
	xorl	%esi, %esi
	jmp	.LBB0_37
	.p2align	4
.LBB0_40:
	movq	-16(%rsp), %r14
	movq	(%rsp), %rbx
	movq	-8(%rsp), %r9
	vmovaps	%zmm5, (%r11)
	vmovaps	%zmm6, 64(%r11)
	addq	$12288, %rdx
	vmovaps	%zmm7, (%r11,%r14,4)
	vmovaps	%zmm8, 64(%r11,%r14,4)
	vmovaps	%zmm9, (%r11,%rbx,4)
	vmovaps	%zmm10, 64(%r11,%rbx,4)
	vmovaps	%zmm11, (%r11,%r9,4)
	vmovaps	%zmm12, 64(%r11,%r9,4)
	vmovaps	%zmm13, (%r11,%rax)
	vmovaps	%zmm14, 64(%r11,%rax)
	vmovaps	%zmm15, (%r11,%r15)
	vmovaps	%zmm16, 64(%r11,%r15)
	vmovaps	%zmm17, (%r11,%rsi)
	vmovaps	%zmm18, 64(%r11,%rsi)
	movq	264(%rsp), %rsi
	movq	256(%rsp), %rax
	vmovaps	%zmm19, (%r11,%r13)
	vmovaps	%zmm20, 64(%r11,%r13)
	vmovaps	%zmm21, (%r11,%rcx)
	vmovaps	%zmm22, 64(%r11,%rcx)
	addq	$12, %rsi
	vmovaps	%zmm23, (%r11,%rax)
	vmovaps	%zmm24, 64(%r11,%rax)
	vmovaps	%zmm25, (%r11,%rdi)
	vmovaps	%zmm26, 64(%r11,%rdi)
	vmovaps	%zmm27, (%r11,%r8)
	vmovaps	%zmm28, 64(%r11,%r8)
	cmpq	-104(%rsp), %rsi
	jge	.LBB0_41
.LBB0_37:
	movq	248(%rsp), %r8
	movq	%rsi, 264(%rsp)
	imulq	%r14, %rsi
	movq	%r8, %rax
	movq	%r8, %rcx
	movq	%r8, %rdi
	imulq	$896, %r8, %r15
	imulq	$1408, %r8, %r13
	movq	-80(%rsp), %r8
	shlq	$8, %rdi
	shlq	$9, %rax
	shlq	$10, %rcx
	cmpq	$0, -120(%rsp)
	leaq	(%r8,%rsi,4), %r11
	vmovaps	(%r8,%rsi,4), %zmm5
	vmovaps	64(%r8,%rsi,4), %zmm6
	movq	%r13, %r8
	leaq	(%rdi,%rdi,2), %rsi
	movq	%r15, %r13
	leaq	(%rdi,%rdi,4), %rdi
	vmovaps	(%r11,%r9,4), %zmm11
	vmovaps	64(%r11,%r9,4), %zmm12
	movq	-24(%rsp), %r9
	vmovaps	(%r11,%r14,4), %zmm7
	vmovaps	64(%r11,%r14,4), %zmm8
	vmovaps	(%r11,%rbx,4), %zmm9
	vmovaps	64(%r11,%rbx,4), %zmm10
	vmovaps	(%rax,%r11), %zmm13
	vmovaps	64(%rax,%r11), %zmm14
	vmovaps	(%r11,%rsi), %zmm17
	vmovaps	64(%r11,%rsi), %zmm18
	vmovaps	(%r13,%r11), %zmm19
	vmovaps	64(%r13,%r11), %zmm20
	vmovaps	(%rcx,%r11), %zmm21
	vmovaps	64(%rcx,%r11), %zmm22
	vmovaps	(%r11,%rdi), %zmm25
	vmovaps	64(%r11,%rdi), %zmm26
	vmovaps	(%r8,%r11), %zmm27
	vmovaps	64(%r8,%r11), %zmm28
	leaq	(%r9,%r9,4), %r15
	leaq	(%r9,%r9,8), %r9
	vmovaps	(%r11,%r15), %zmm15
	vmovaps	64(%r11,%r15), %zmm16
	vmovaps	(%r11,%r9), %zmm23
	vmovaps	64(%r11,%r9), %zmm24
	movq	%r9, 256(%rsp)
	jle	.LBB0_40
	movq	-96(%rsp), %rbx
	xorl	%r14d, %r14d
	.p2align	4
.LBB0_39:
	vbroadcastss	-9216(%rdx,%r14,4), %zmm0
	vmovaps	-64(%rbx), %zmm30
	vmovaps	(%rbx), %zmm29
	vbroadcastss	-11264(%rdx,%r14,4), %zmm31
	subq	$-128, %rbx
	vfmadd231ps	%zmm30, %zmm0, %zmm9
	vfmadd231ps	%zmm0, %zmm29, %zmm10
	vbroadcastss	-7168(%rdx,%r14,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm5
	vfmadd231ps	%zmm31, %zmm29, %zmm6
	vbroadcastss	-10240(%rdx,%r14,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm13
	vfmadd231ps	%zmm0, %zmm29, %zmm14
	vbroadcastss	-5120(%rdx,%r14,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm7
	vfmadd231ps	%zmm31, %zmm29, %zmm8
	vbroadcastss	-8192(%rdx,%r14,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm17
	vfmadd231ps	%zmm0, %zmm29, %zmm18
	vbroadcastss	-4096(%rdx,%r14,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm11
	vfmadd231ps	%zmm31, %zmm29, %zmm12
	vbroadcastss	-6144(%rdx,%r14,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm19
	vfmadd231ps	%zmm0, %zmm29, %zmm20
	vbroadcastss	-3072(%rdx,%r14,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm15
	vfmadd231ps	%zmm31, %zmm29, %zmm16
	vbroadcastss	-1024(%rdx,%r14,4), %zmm31
	vfmadd231ps	%zmm30, %zmm0, %zmm21
	vfmadd231ps	%zmm0, %zmm29, %zmm22
	vbroadcastss	-2048(%rdx,%r14,4), %zmm0
	vfmadd231ps	%zmm30, %zmm31, %zmm25
	vfmadd231ps	%zmm31, %zmm29, %zmm26
	vfmadd231ps	%zmm30, %zmm0, %zmm23
	vfmadd231ps	%zmm0, %zmm29, %zmm24
	vbroadcastss	(%rdx,%r14,4), %zmm0
	incq	%r14
	vfmadd231ps	%zmm30, %zmm0, %zmm27
	vfmadd231ps	%zmm29, %zmm0, %zmm28
	cmpq	%r12, %r14
	jl	.LBB0_39
	jmp	.LBB0_40
	.p2align	4
.LBB0_41:
	movq	224(%rsp), %rax
	movq	-32(%rsp), %r15
	movq	-112(%rsp), %r11
	movq	%rbx, %r8
	movq	%rax, %rbx
	cmpq	%rax, -104(%rsp)
	jge	.LBB0_47
	movq	184(%rsp), %rax
	movq	-104(%rsp), %rcx
	jmp	.LBB0_43
	.p2align	4
.LBB0_46:
	addq	$4, %rcx
	addq	$4096, %rax
	vmovaps	%zmm5, (%rdx)
	vmovaps	%zmm6, 64(%rdx)
	vmovaps	%zmm7, (%rdx,%r14,4)
	vmovaps	%zmm8, 64(%rdx,%r14,4)
	vmovaps	%zmm9, (%rdx,%r8,4)
	vmovaps	%zmm10, 64(%rdx,%r8,4)
	vmovaps	%zmm11, (%rdx,%r9,4)
	vmovaps	%zmm12, 64(%rdx,%r9,4)
	cmpq	%rbx, %rcx
	jge	.LBB0_47
.LBB0_43:
	movq	-80(%rsp), %rdi
	movq	%rcx, %rsi
	imulq	%r14, %rsi
	cmpq	$0, -120(%rsp)
	leaq	(%rdi,%rsi,4), %rdx
	vmovaps	(%rdi,%rsi,4), %zmm5
	vmovaps	64(%rdi,%rsi,4), %zmm6
	vmovaps	(%rdx,%r14,4), %zmm7
	vmovaps	64(%rdx,%r14,4), %zmm8
	vmovaps	(%rdx,%r8,4), %zmm9
	vmovaps	64(%rdx,%r8,4), %zmm10
	vmovaps	(%rdx,%r9,4), %zmm11
	vmovaps	64(%rdx,%r9,4), %zmm12
	jle	.LBB0_46
	movq	-96(%rsp), %rsi
	xorl	%edi, %edi
	.p2align	4
.LBB0_45:
	vbroadcastss	-3072(%rax,%rdi,4), %zmm14
	vbroadcastss	-2048(%rax,%rdi,4), %zmm17
	vbroadcastss	-1024(%rax,%rdi,4), %zmm15
	vbroadcastss	(%rax,%rdi,4), %zmm16
	vmovaps	-64(%rsi), %zmm0
	vmovaps	(%rsi), %zmm13
	incq	%rdi
	subq	$-128, %rsi
	vfmadd231ps	%zmm0, %zmm14, %zmm5
	vfmadd231ps	%zmm14, %zmm13, %zmm6
	vfmadd231ps	%zmm0, %zmm17, %zmm7
	vfmadd231ps	%zmm17, %zmm13, %zmm8
	vfmadd231ps	%zmm0, %zmm15, %zmm9
	vfmadd231ps	%zmm15, %zmm13, %zmm10
	vfmadd231ps	%zmm0, %zmm16, %zmm11
	vfmadd231ps	%zmm13, %zmm16, %zmm12
	cmpq	%r12, %rdi
	jl	.LBB0_45
	jmp	.LBB0_46
	.p2align	4
.LBB0_47:
	movq	-80(%rsp), %r8
	movq	216(%rsp), %r13
	cmpq	%r11, %rbx
	jge	.LBB0_53
	movq	192(%rsp), %rax
	movq	%rbx, %rcx
	jmp	.LBB0_49
	.p2align	4
.LBB0_52:
	incq	%rcx
	addq	$1024, %rax
	vmovaps	%zmm5, (%r8,%rdx,4)
	vmovaps	%zmm6, 64(%r8,%rdx,4)
	cmpq	%r11, %rcx
	jge	.LBB0_53
.LBB0_49:
	movq	%rcx, %rdx
	imulq	%r14, %rdx
	cmpq	$0, -120(%rsp)
	vmovaps	(%r8,%rdx,4), %zmm5
	vmovaps	64(%r8,%rdx,4), %zmm6
	jle	.LBB0_52
	movq	-96(%rsp), %rsi
	xorl	%edi, %edi
	.p2align	4
.LBB0_51:
	vbroadcastss	(%rax,%rdi,4), %zmm0
	incq	%rdi
	vfmadd231ps	-64(%rsi), %zmm0, %zmm5
	vfmadd231ps	(%rsi), %zmm0, %zmm6
	subq	$-128, %rsi
	cmpq	%r12, %rdi
	jl	.LBB0_51
	jmp	.LBB0_52
	.p2align	4
.LBB0_55:
	cmpq	$0, -128(%rsp)
	movq	112(%rsp), %r9
	movq	104(%rsp), %rbx
	movq	-40(%rsp), %r12
	movq	-24(%rsp), %r14
	movq	136(%rsp), %rbp
	jle	.LBB0_92
	movq	16(%rsp), %rax
	movq	-64(%rsp), %r11
	imulq	8(%rsp), %rbp
	movq	128(%rsp), %rcx
	xorl	%edx, %edx
	imulq	%r11, %rax
	imulq	24(%rsp), %r11
	imulq	%r9, %rcx
	addq	%rax, %rbp
	movq	48(%rsp), %rax
	addq	56(%rsp), %rbp
	addq	%r10, %r11
	addq	64(%rsp), %r11
	leaq	(%rax,%rcx,4), %rax
	movq	%r12, %rcx
	leaq	(%rax,%r10,4), %rax
	jmp	.LBB0_57
	.p2align	4
.LBB0_91:
	addq	$16, %r10
	addq	$16, %rdx
	addq	$64, %rcx
	addq	$64, %rbp
	movq	%r10, %r11
	cmpq	-128(%rsp), %rdx
	jge	.LBB0_92
.LBB0_57:
	cmpq	$0, -112(%rsp)
	jle	.LBB0_58
	movq	-128(%rsp), %rsi
	movq	%r11, %r10
	movq	-112(%rsp), %r11
	vxorps	%xmm5, %xmm5, %xmm5
	movq	%rcx, %rdi
	xorl	%r8d, %r8d
	subq	%rdx, %rsi
	vpbroadcastq	%rsi, %zmm6
	xorl	%esi, %esi
	.p2align	4
.LBB0_60:
	vpcmpgtq	%zmm1, %zmm6, %k0
	vpcmpgtq	%zmm2, %zmm6, %k1
	incq	%r8
	kunpckbw	%k0, %k1, %k1
	vmovdqu8	(%r10,%rsi), %xmm0 {%k1} {z}
	vptestmb	%xmm0, %xmm0, %k2
	vmovaps	(%rdi), %zmm0 {%k2} {z}
	addq	%r14, %rdi
	vaddps	%zmm0, %zmm5, %zmm5 {%k1}
	vmovups	%zmm0, (%rbp,%rsi,4) {%k1}
	addq	%r9, %rsi
	cmpq	%r11, %r8
	jl	.LBB0_60
	jmp	.LBB0_61
	.p2align	4
.LBB0_58:
	vxorps	%xmm5, %xmm5, %xmm5
	movq	%r11, %r10
.LBB0_61:
	movq	%rdx, %rsi
	vmovss	%xmm5, (%rax,%rdx,4)
	orq	$1, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_63
	vextractps	$1, %xmm5, 4(%rax,%rdx,4)
.LBB0_63:
	movq	%rdx, %rsi
	orq	$2, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_65
	vextractps	$2, %xmm5, 8(%rax,%rdx,4)
.LBB0_65:
	movq	%rdx, %rsi
	orq	$3, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_67
	vextractps	$3, %xmm5, 12(%rax,%rdx,4)
.LBB0_67:
	movq	%rdx, %rsi
	orq	$4, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_69
	vextractf128	$1, %ymm5, %xmm0
	vmovss	%xmm0, 16(%rax,%rdx,4)
.LBB0_69:
	movq	%rdx, %rsi
	orq	$5, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_71
	vextracti128	$1, %ymm5, %xmm0
	vextractps	$1, %xmm0, 20(%rax,%rdx,4)
.LBB0_71:
	movq	%rdx, %rsi
	orq	$6, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_73
	vextracti128	$1, %ymm5, %xmm0
	vextractps	$2, %xmm0, 24(%rax,%rdx,4)
.LBB0_73:
	movq	%rdx, %rsi
	orq	$7, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_75
	vextracti128	$1, %ymm5, %xmm0
	vextractps	$3, %xmm0, 28(%rax,%rdx,4)
.LBB0_75:
	movq	%rdx, %rsi
	orq	$8, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_77
	vextractf32x4	$2, %zmm5, %xmm0
	vmovss	%xmm0, 32(%rax,%rdx,4)
.LBB0_77:
	movq	%rdx, %rsi
	orq	$9, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_79
	vextracti32x4	$2, %zmm5, %xmm0
	vextractps	$1, %xmm0, 36(%rax,%rdx,4)
.LBB0_79:
	movq	%rdx, %rsi
	orq	$10, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_81
	vextracti32x4	$2, %zmm5, %xmm0
	vextractps	$2, %xmm0, 40(%rax,%rdx,4)
.LBB0_81:
	movq	%rdx, %rsi
	orq	$11, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_83
	vextracti32x4	$2, %zmm5, %xmm0
	vextractps	$3, %xmm0, 44(%rax,%rdx,4)
.LBB0_83:
	movq	%rdx, %rsi
	orq	$12, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_85
	vextractf32x4	$3, %zmm5, %xmm0
	vmovss	%xmm0, 48(%rax,%rdx,4)
.LBB0_85:
	movq	%rdx, %rsi
	orq	$13, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_87
	vextracti32x4	$3, %zmm5, %xmm0
	vextractps	$1, %xmm0, 52(%rax,%rdx,4)
.LBB0_87:
	movq	%rdx, %rsi
	orq	$14, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_89
	vextracti32x4	$3, %zmm5, %xmm0
	vextractps	$2, %xmm0, 56(%rax,%rdx,4)
.LBB0_89:
	movq	%rdx, %rsi
	orq	$15, %rsi
	cmpq	-128(%rsp), %rsi
	jge	.LBB0_91
	vextracti32x4	$3, %zmm5, %xmm0
	vextractps	$3, %xmm0, 60(%rax,%rdx,4)
	jmp	.LBB0_91
.LBB0_93:
	addq	$272, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_3a3ac53760181b43, .Lfunc_end0-halftone_3a3ac53760181b43

	.section	".note.GNU-stack","",@progbits

# db89ae95aca790d55057ec7ae268c7938e4a2ac7ebc87ca57cf762eefbbcac28: loop_8bf170d707a7a711
	.file	"kernel"
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3, 0x0
.LCPI0_0:
	.quad	0xbf506459371b128d
.LCPI0_1:
	.quad	0x4086300000000000
.LCPI0_2:
	.quad	0xc087500000000000
.LCPI0_3:
	.quad	0x3ff71547652b82fe
.LCPI0_4:
	.quad	0xc338000000000000
.LCPI0_5:
	.quad	-4843621399236968448
.LCPI0_6:
	.quad	0x3fe62e42fee00000
.LCPI0_7:
	.quad	0x3dea39ef35793c76
.LCPI0_8:
	.quad	0x3e21eed8eff8d898
.LCPI0_9:
	.quad	0x3de6124613a86d09
.LCPI0_10:
	.quad	0x3e5ae64567f544e4
.LCPI0_11:
	.quad	0x3e927e4fb7789f5c
.LCPI0_12:
	.quad	0x3ec71de3a556c734
.LCPI0_13:
	.quad	0x3efa01a01a01a01a
.LCPI0_14:
	.quad	0x3f2a01a01a01a01a
.LCPI0_15:
	.quad	0x3f56c16c16c16c17
.LCPI0_16:
	.quad	0x3f81111111111111
.LCPI0_17:
	.quad	0x3fa5555555555555
.LCPI0_18:
	.quad	0x3fc5555555555555
.LCPI0_19:
	.quad	0x3fe0000000000000
.LCPI0_20:
	.quad	0x3ff0000000000000
.LCPI0_22:
	.quad	0xbfbaf8e892d15de8
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_21:
	.long	0x3f800000
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_23:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_24:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.text
	.globl	halftone_db89ae95aca790d5
	.p2align	4
	.type	halftone_db89ae95aca790d5,@function
halftone_db89ae95aca790d5:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	movq	8(%rsi), %rax
	movq	(%rsi), %r9
	movq	16(%rsi), %r11
	movq	(%rdi), %rbx
	movq	8(%rdi), %r14
	movq	16(%rdi), %r15
	movq	24(%rdi), %rdi
	movq	%rdx, %r8
	movq	%rcx, -16(%rsp)
	movq	%rax, -8(%rsp)
	leaq	-1(%r11,%r9), %rax
	movq	%rax, %rdx
	orq	%r11, %rdx
	shrq	$32, %rdx
	je	.LBB0_1
	xorl	%edx, %edx
	divq	%r11
	movq	%rax, %rsi
	cmpq	-16(%rsp), %r8
	jl	.LBB0_4
	jmp	.LBB0_15
.LBB0_1:
	xorl	%edx, %edx
	divl	%r11d
	movl	%eax, %esi
	cmpq	-16(%rsp), %r8
	jge	.LBB0_15
.LBB0_4:
	vbroadcastsd	.LCPI0_0(%rip), %zmm20
	vbroadcastsd	.LCPI0_1(%rip), %zmm1
	vbroadcastsd	.LCPI0_2(%rip), %zmm2
	vbroadcastsd	.LCPI0_3(%rip), %zmm26
	vbroadcastsd	.LCPI0_4(%rip), %zmm4
	vbroadcastsd	.LCPI0_6(%rip), %zmm5
	vbroadcastsd	.LCPI0_7(%rip), %zmm6
	vbroadcastsd	.LCPI0_8(%rip), %zmm7
	vbroadcastsd	.LCPI0_9(%rip), %zmm8
	vbroadcastsd	.LCPI0_10(%rip), %zmm9
	vbroadcastsd	.LCPI0_11(%rip), %zmm10
	vbroadcastsd	.LCPI0_12(%rip), %zmm11
	vbroadcastsd	.LCPI0_13(%rip), %zmm12
	vbroadcastsd	.LCPI0_14(%rip), %zmm13
	vbroadcastsd	.LCPI0_15(%rip), %zmm14
	vbroadcastsd	.LCPI0_16(%rip), %zmm15
	vbroadcastsd	.LCPI0_17(%rip), %zmm16
	vbroadcastsd	.LCPI0_18(%rip), %zmm17
	vbroadcastsd	.LCPI0_19(%rip), %zmm18
	vbroadcastsd	.LCPI0_20(%rip), %zmm19
	vbroadcastsd	.LCPI0_22(%rip), %zmm25
	vpbroadcastq	.LCPI0_5(%rip), %zmm21
	vpbroadcastq	.LCPI0_20(%rip), %zmm22
	vpternlogd	$255, %zmm3, %zmm3, %zmm3
	jmp	.LBB0_5
	.p2align	4
.LBB0_14:
	incq	%r8
	cmpq	-16(%rsp), %r8
	jge	.LBB0_15
.LBB0_5:
	movq	%r8, %rax
	orq	%rsi, %rax
	shrq	$32, %rax
	je	.LBB0_6
	movq	%r8, %rax
	xorl	%edx, %edx
	divq	%rsi
	jmp	.LBB0_8
	.p2align	4
.LBB0_6:
	movl	%r8d, %eax
	xorl	%edx, %edx
	divl	%esi
.LBB0_8:
	imulq	%r11, %rdx
	movq	-8(%rsp), %rcx
	leaq	(%rdx,%r11), %r10
	cmpq	%r10, %r9
	cmovlq	%r9, %r10
	imulq	%rcx, %rax
	leaq	(%rax,%rcx), %rbp
	movl	$1, %ecx
	testq	%rbp, %rbp
	cmovgq	%rcx, %rbp
	cmpq	%rbp, %rax
	jge	.LBB0_14
	movq	%r10, %rcx
	subq	%rdx, %rcx
	andq	$-16, %rcx
	addq	%rdx, %rcx
	jmp	.LBB0_10
	.p2align	4
.LBB0_13:
	incq	%rax
	cmpq	%rbp, %rax
	jge	.LBB0_14
.LBB0_10:
	movq	%rdx, %r12
	cmpq	%rcx, %rdx
	jge	.LBB0_11
	.p2align	4
.LBB0_16:
	vmovdqu64	(%rbx,%r12,4), %zmm0
	vmovapd	%zmm26, %zmm30
	vpsubd	%zmm3, %zmm0, %zmm28
	vcvtdq2ps	%zmm28, %zmm0
	vextractf64x4	$1, %zmm0, %ymm3
	vcvtps2pd	%ymm0, %zmm31
	vcvtps2pd	%ymm3, %zmm29
	vmulpd	%zmm20, %zmm31, %zmm0
	vmulpd	%zmm20, %zmm29, %zmm3
	vcmpltpd	%zmm0, %zmm1, %k2
	vmaxpd	%zmm0, %zmm2, %zmm0
	vcmpltpd	%zmm3, %zmm1, %k1
	vmaxpd	%zmm3, %zmm2, %zmm27
	vmovapd	%zmm1, %zmm0 {%k2}
	vmovapd	%zmm26, %zmm3
	vfmsub213pd	%zmm4, %zmm0, %zmm3
	vmovapd	%zmm1, %zmm27 {%k1}
	vfmsub213pd	%zmm4, %zmm27, %zmm30
	vaddpd	%zmm4, %zmm3, %zmm23
	vpaddq	%zmm21, %zmm3, %zmm20
	vpsraq	$1, %zmm20, %zmm20
	vaddpd	%zmm4, %zmm30, %zmm24
	vpsubq	%zmm20, %zmm3, %zmm3
	vfnmadd231pd	%zmm5, %zmm23, %zmm0
	vpsllq	$52, %zmm3, %zmm3
	vpaddq	%zmm22, %zmm3, %zmm3
	vfnmadd231pd	%zmm5, %zmm24, %zmm27
	vfnmadd231pd	%zmm23, %zmm6, %zmm0
	vfnmadd231pd	%zmm24, %zmm6, %zmm27
	vmovapd	%zmm8, %zmm24
	vfmadd213pd	%zmm7, %zmm0, %zmm24
	vmulpd	%zmm0, %zmm0, %zmm23
	vfmadd213pd	%zmm9, %zmm0, %zmm24
	vfmadd213pd	%zmm10, %zmm0, %zmm24
	vfmadd213pd	%zmm11, %zmm0, %zmm24
	vfmadd213pd	%zmm12, %zmm0, %zmm24
	vfmadd213pd	%zmm13, %zmm0, %zmm24
	vfmadd213pd	%zmm14, %zmm0, %zmm24
	vfmadd213pd	%zmm15, %zmm0, %zmm24
	vfmadd213pd	%zmm16, %zmm0, %zmm24
	vfmadd213pd	%zmm17, %zmm0, %zmm24
	vfmadd213pd	%zmm18, %zmm0, %zmm24
	vfmadd213pd	%zmm0, %zmm23, %zmm24
	vmovapd	%zmm8, %zmm23
	vfmadd213pd	%zmm7, %zmm27, %zmm23
	vmulpd	%zmm27, %zmm27, %zmm0
	vfmadd213pd	%zmm9, %zmm27, %zmm23
	vaddpd	%zmm19, %zmm24, %zmm24
	vfmadd213pd	%zmm10, %zmm27, %zmm23
	vfmadd213pd	%zmm11, %zmm27, %zmm23
	vfmadd213pd	%zmm12, %zmm27, %zmm23
	vfmadd213pd	%zmm13, %zmm27, %zmm23
	vfmadd213pd	%zmm14, %zmm27, %zmm23
	vfmadd213pd	%zmm15, %zmm27, %zmm23
	vfmadd213pd	%zmm16, %zmm27, %zmm23
	vfmadd213pd	%zmm17, %zmm27, %zmm23
	vfmadd213pd	%zmm18, %zmm27, %zmm23
	vfmadd213pd	%zmm27, %zmm0, %zmm23
	vpaddq	%zmm21, %zmm30, %zmm0
	vpsraq	$1, %zmm0, %zmm0
	vpsllq	$52, %zmm0, %zmm27
	vpsubq	%zmm0, %zmm30, %zmm0
	vpaddq	%zmm22, %zmm27, %zmm27
	vpsllq	$52, %zmm0, %zmm0
	vaddpd	%zmm19, %zmm23, %zmm23
	vpaddq	%zmm22, %zmm0, %zmm0
	vmulpd	%zmm27, %zmm23, %zmm23
	vpsllq	$52, %zmm20, %zmm27
	vmulpd	%zmm25, %zmm31, %zmm20
	vmovapd	%zmm8, %zmm31
	vpaddq	%zmm22, %zmm27, %zmm27
	vmulpd	%zmm27, %zmm24, %zmm24
	vmulpd	%zmm0, %zmm23, %zmm0
	vcmpltpd	%zmm20, %zmm1, %k2
	vmulpd	%zmm3, %zmm24, %zmm3
	vcvtpd2ps	%zmm0, %ymm0
	vcvtpd2ps	%zmm3, %ymm3
	vinsertf64x4	$1, %ymm0, %zmm3, %zmm30
	vmulpd	%zmm25, %zmm29, %zmm3
	vmaxpd	%zmm20, %zmm2, %zmm0
	vmovapd	%zmm26, %zmm29
	vmovapd	%zmm1, %zmm0 {%k2}
	vcmpltpd	%zmm3, %zmm1, %k1
	vmaxpd	%zmm3, %zmm2, %zmm27
	vmovapd	%zmm26, %zmm3
	vfmsub213pd	%zmm4, %zmm0, %zmm3
	vmovapd	%zmm1, %zmm27 {%k1}
	vfmsub213pd	%zmm4, %zmm27, %zmm29
	vptestnmd	%zmm28, %zmm28, %k1
	vaddpd	%zmm4, %zmm3, %zmm23
	vpaddq	%zmm21, %zmm3, %zmm20
	vpsraq	$1, %zmm20, %zmm20
	vaddpd	%zmm4, %zmm29, %zmm24
	vpsubq	%zmm20, %zmm3, %zmm3
	vfnmadd231pd	%zmm5, %zmm23, %zmm0
	vpsllq	$52, %zmm3, %zmm3
	vpaddq	%zmm22, %zmm3, %zmm3
	vfnmadd231pd	%zmm5, %zmm24, %zmm27
	vfnmadd231pd	%zmm23, %zmm6, %zmm0
	vfnmadd231pd	%zmm24, %zmm6, %zmm27
	vmovapd	%zmm8, %zmm24
	vfmadd213pd	%zmm7, %zmm0, %zmm24
	vmulpd	%zmm0, %zmm0, %zmm23
	vfmadd213pd	%zmm7, %zmm27, %zmm31
	vfmadd213pd	%zmm9, %zmm0, %zmm24
	vfmadd213pd	%zmm9, %zmm27, %zmm31
	vfmadd213pd	%zmm10, %zmm0, %zmm24
	vfmadd213pd	%zmm10, %zmm27, %zmm31
	vfmadd213pd	%zmm11, %zmm0, %zmm24
	vfmadd213pd	%zmm11, %zmm27, %zmm31
	vfmadd213pd	%zmm12, %zmm0, %zmm24
	vfmadd213pd	%zmm12, %zmm27, %zmm31
	vfmadd213pd	%zmm13, %zmm0, %zmm24
	vfmadd213pd	%zmm13, %zmm27, %zmm31
	vfmadd213pd	%zmm14, %zmm0, %zmm24
	vfmadd213pd	%zmm14, %zmm27, %zmm31
	vfmadd213pd	%zmm15, %zmm0, %zmm24
	vfmadd213pd	%zmm15, %zmm27, %zmm31
	vfmadd213pd	%zmm16, %zmm0, %zmm24
	vfmadd213pd	%zmm16, %zmm27, %zmm31
	vfmadd213pd	%zmm17, %zmm0, %zmm24
	vfmadd213pd	%zmm17, %zmm27, %zmm31
	vfmadd213pd	%zmm18, %zmm0, %zmm24
	vfmadd213pd	%zmm18, %zmm27, %zmm31
	vfmadd213pd	%zmm0, %zmm23, %zmm24
	vmulpd	%zmm27, %zmm27, %zmm0
	vfmadd213pd	%zmm27, %zmm0, %zmm31
	vpaddq	%zmm21, %zmm29, %zmm0
	vpsraq	$1, %zmm0, %zmm0
	vaddpd	%zmm19, %zmm24, %zmm24
	vpsllq	$52, %zmm0, %zmm27
	vpsubq	%zmm0, %zmm29, %zmm0
	vpaddq	%zmm22, %zmm27, %zmm27
	vpsllq	$52, %zmm0, %zmm0
	vaddpd	%zmm19, %zmm31, %zmm23
	vpsllq	$52, %zmm20, %zmm31
	vpaddq	%zmm22, %zmm0, %zmm0
	vbroadcastsd	.LCPI0_0(%rip), %zmm20
	vmulpd	%zmm27, %zmm23, %zmm23
	vpaddq	%zmm22, %zmm31, %zmm27
	vmulpd	%zmm27, %zmm24, %zmm24
	vmulpd	%zmm0, %zmm23, %zmm0
	vbroadcastss	.LCPI0_21(%rip), %zmm23
	vmulpd	%zmm3, %zmm24, %zmm3
	vxorpd	%xmm24, %xmm24, %xmm24
	vcvtpd2ps	%zmm0, %ymm0
	vcvtpd2ps	%zmm3, %ymm3
	vinsertf64x4	$1, %ymm0, %zmm3, %zmm0
	vsubps	%zmm30, %zmm23, %zmm3
	vsubps	%zmm0, %zmm23, %zmm0
	vsqrtps	%zmm3, %zmm3
	vmovaps	%zmm24, %zmm0 {%k1}
	vmovaps	%zmm24, %zmm3 {%k1}
	vmulps	(%r14,%r12,4), %zmm3, %zmm3
	vmovdqu64	%zmm28, (%r15,%r12,4)
	vdivps	%zmm0, %zmm3, %zmm0
	vpternlogd	$255, %zmm3, %zmm3, %zmm3
	vmovups	%zmm0, (%rdi,%r12,4)
	addq	$16, %r12
	cmpq	%rcx, %r12
	jl	.LBB0_16
.LBB0_11:
	movq	%rcx, %r12
	cmpq	%r10, %rcx
	jge	.LBB0_13
	.p2align	4
.LBB0_12:
	movq	%r10, %r13
	subq	%r12, %r13
	vmovapd	%zmm26, %zmm31
	vpbroadcastq	%r13, %zmm0
	vpcmpgtq	.LCPI0_23(%rip), %zmm0, %k0
	vpcmpgtq	.LCPI0_24(%rip), %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovdqu32	(%rbx,%r12,4), %zmm0 {%k1} {z}
	vpsubd	%zmm3, %zmm0, %zmm28
	vcvtdq2ps	%zmm28, %zmm0
	vextractf64x4	$1, %zmm0, %ymm3
	vcvtps2pd	%ymm0, %zmm30
	vcvtps2pd	%ymm3, %zmm29
	vmulpd	%zmm20, %zmm30, %zmm0
	vmulpd	%zmm20, %zmm29, %zmm3
	vcmpltpd	%zmm0, %zmm1, %k3
	vmaxpd	%zmm0, %zmm2, %zmm0
	vcmpltpd	%zmm3, %zmm1, %k2
	vmaxpd	%zmm3, %zmm2, %zmm27
	vmovapd	%zmm1, %zmm0 {%k3}
	vmovapd	%zmm26, %zmm3
	vfmsub213pd	%zmm4, %zmm0, %zmm3
	vmovapd	%zmm1, %zmm27 {%k2}
	vfmsub213pd	%zmm4, %zmm27, %zmm31
	vptestnmd	%zmm28, %zmm28, %k2
	vaddpd	%zmm4, %zmm3, %zmm23
	vpaddq	%zmm21, %zmm3, %zmm20
	vpsraq	$1, %zmm20, %zmm20
	vaddpd	%zmm4, %zmm31, %zmm24
	vpsubq	%zmm20, %zmm3, %zmm3
	vfnmadd231pd	%zmm5, %zmm23, %zmm0
	vpsllq	$52, %zmm3, %zmm3
	vpaddq	%zmm22, %zmm3, %zmm3
	vfnmadd231pd	%zmm5, %zmm24, %zmm27
	vfnmadd231pd	%zmm23, %zmm6, %zmm0
	vfnmadd231pd	%zmm24, %zmm6, %zmm27
	vmovapd	%zmm8, %zmm24
	vfmadd213pd	%zmm7, %zmm0, %zmm24
	vmulpd	%zmm0, %zmm0, %zmm23
	vfmadd213pd	%zmm9, %zmm0, %zmm24
	vfmadd213pd	%zmm10, %zmm0, %zmm24
	vfmadd213pd	%zmm11, %zmm0, %zmm24
	vfmadd213pd	%zmm12, %zmm0, %zmm24
	vfmadd213pd	%zmm13, %zmm0, %zmm24
	vfmadd213pd	%zmm14, %zmm0, %zmm24
	vfmadd213pd	%zmm15, %zmm0, %zmm24
	vfmadd213pd	%zmm16, %zmm0, %zmm24
	vfmadd213pd	%zmm17, %zmm0, %zmm24
	vfmadd213pd	%zmm18, %zmm0, %zmm24
	vfmadd213pd	%zmm0, %zmm23, %zmm24
	vmovapd	%zmm8, %zmm23
	vfmadd213pd	%zmm7, %zmm27, %zmm23
	vmulpd	%zmm27, %zmm27, %zmm0
	vfmadd213pd	%zmm9, %zmm27, %zmm23
	vaddpd	%zmm19, %zmm24, %zmm24
	vfmadd213pd	%zmm10, %zmm27, %zmm23
	vfmadd213pd	%zmm11, %zmm27, %zmm23
	vfmadd213pd	%zmm12, %zmm27, %zmm23
	vfmadd213pd	%zmm13, %zmm27, %zmm23
	vfmadd213pd	%zmm14, %zmm27, %zmm23
	vfmadd213pd	%zmm15, %zmm27, %zmm23
	vfmadd213pd	%zmm16, %zmm27, %zmm23
	vfmadd213pd	%zmm17, %zmm27, %zmm23
	vfmadd213pd	%zmm18, %zmm27, %zmm23
	vfmadd213pd	%zmm27, %zmm0, %zmm23
	vpaddq	%zmm21, %zmm31, %zmm0
	vpsraq	$1, %zmm0, %zmm0
	vpsllq	$52, %zmm0, %zmm27
	vpsubq	%zmm0, %zmm31, %zmm0
	vpaddq	%zmm22, %zmm27, %zmm27
	vpsllq	$52, %zmm0, %zmm0
	vaddpd	%zmm19, %zmm23, %zmm23
	vpaddq	%zmm22, %zmm0, %zmm0
	vmulpd	%zmm27, %zmm23, %zmm23
	vpsllq	$52, %zmm20, %zmm27
	vmovups	(%r14,%r12,4), %zmm20 {%k1} {z}
	vmovdqu32	%zmm28, (%r15,%r12,4) {%k1}
	vpaddq	%zmm22, %zmm27, %zmm27
	vmulpd	%zmm27, %zmm24, %zmm24
	vmulpd	%zmm0, %zmm23, %zmm0
	vmulpd	%zmm3, %zmm24, %zmm3
	vcvtpd2ps	%zmm0, %ymm0
	vcvtpd2ps	%zmm3, %ymm3
	vinsertf64x4	$1, %ymm0, %zmm3, %zmm0
	vbroadcastss	.LCPI0_21(%rip), %zmm3
	vsubps	%zmm0, %zmm3, %zmm0
	vxorps	%xmm3, %xmm3, %xmm3
	vsqrtps	%zmm0, %zmm0
	vmovaps	%zmm3, %zmm0 {%k2}
	vmulps	%zmm0, %zmm20, %zmm31
	vmulpd	%zmm25, %zmm30, %zmm20
	vmulpd	%zmm25, %zmm29, %zmm3
	vmovapd	%zmm26, %zmm29
	vmovapd	%zmm8, %zmm30
	vcmpltpd	%zmm20, %zmm1, %k4
	vmaxpd	%zmm20, %zmm2, %zmm0
	vcmpltpd	%zmm3, %zmm1, %k3
	vmaxpd	%zmm3, %zmm2, %zmm27
	vmovapd	%zmm26, %zmm3
	vmovapd	%zmm1, %zmm0 {%k4}
	vfmsub213pd	%zmm4, %zmm0, %zmm3
	vmovapd	%zmm1, %zmm27 {%k3}
	vfmsub213pd	%zmm4, %zmm27, %zmm29
	vaddpd	%zmm4, %zmm3, %zmm23
	vaddpd	%zmm4, %zmm29, %zmm24
	vpaddq	%zmm21, %zmm3, %zmm20
	vpsraq	$1, %zmm20, %zmm20
	vpsubq	%zmm20, %zmm3, %zmm3
	vfnmadd231pd	%zmm5, %zmm23, %zmm0
	vfnmadd231pd	%zmm5, %zmm24, %zmm27
	vpsllq	$52, %zmm3, %zmm3
	vpaddq	%zmm22, %zmm3, %zmm3
	vfnmadd231pd	%zmm23, %zmm6, %zmm0
	vfnmadd231pd	%zmm24, %zmm6, %zmm27
	vmovapd	%zmm8, %zmm24
	vfmadd213pd	%zmm7, %zmm0, %zmm24
	vfmadd213pd	%zmm7, %zmm27, %zmm30
	vmulpd	%zmm0, %zmm0, %zmm23
	vfmadd213pd	%zmm9, %zmm0, %zmm24
	vfmadd213pd	%zmm9, %zmm27, %zmm30
	vfmadd213pd	%zmm10, %zmm0, %zmm24
	vfmadd213pd	%zmm10, %zmm27, %zmm30
	vfmadd213pd	%zmm11, %zmm0, %zmm24
	vfmadd213pd	%zmm11, %zmm27, %zmm30
	vfmadd213pd	%zmm12, %zmm0, %zmm24
	vfmadd213pd	%zmm12, %zmm27, %zmm30
	vfmadd213pd	%zmm13, %zmm0, %zmm24
	vfmadd213pd	%zmm13, %zmm27, %zmm30
	vfmadd213pd	%zmm14, %zmm0, %zmm24
	vfmadd213pd	%zmm14, %zmm27, %zmm30
	vfmadd213pd	%zmm15, %zmm0, %zmm24
	vfmadd213pd	%zmm15, %zmm27, %zmm30
	vfmadd213pd	%zmm16, %zmm0, %zmm24
	vfmadd213pd	%zmm16, %zmm27, %zmm30
	vfmadd213pd	%zmm17, %zmm0, %zmm24
	vfmadd213pd	%zmm17, %zmm27, %zmm30
	vfmadd213pd	%zmm18, %zmm0, %zmm24
	vfmadd213pd	%zmm18, %zmm27, %zmm30
	vfmadd213pd	%zmm0, %zmm23, %zmm24
	vmulpd	%zmm27, %zmm27, %zmm0
	vfmadd213pd	%zmm27, %zmm0, %zmm30
	vpaddq	%zmm21, %zmm29, %zmm0
	vpsraq	$1, %zmm0, %zmm0
	vaddpd	%zmm19, %zmm24, %zmm24
	vpsllq	$52, %zmm0, %zmm27
	vpsubq	%zmm0, %zmm29, %zmm0
	vpaddq	%zmm22, %zmm27, %zmm27
	vpsllq	$52, %zmm0, %zmm0
	vaddpd	%zmm19, %zmm30, %zmm23
	vpsllq	$52, %zmm20, %zmm30
	vpaddq	%zmm22, %zmm0, %zmm0
	vbroadcastsd	.LCPI0_0(%rip), %zmm20
	vmulpd	%zmm27, %zmm23, %zmm23
	vpaddq	%zmm22, %zmm30, %zmm27
	vmulpd	%zmm27, %zmm24, %zmm24
	vmulpd	%zmm0, %zmm23, %zmm0
	vbroadcastss	.LCPI0_21(%rip), %zmm23
	vmulpd	%zmm3, %zmm24, %zmm3
	vxorpd	%xmm24, %xmm24, %xmm24
	vcvtpd2ps	%zmm0, %ymm0
	vcvtpd2ps	%zmm3, %ymm3
	vinserti64x4	$1, %ymm0, %zmm3, %zmm0
	vpternlogd	$255, %zmm3, %zmm3, %zmm3
	vsubps	%zmm0, %zmm23, %zmm0
	vmovaps	%zmm24, %zmm0 {%k2}
	vdivps	%zmm0, %zmm31, %zmm0
	vmovups	%zmm0, (%rdi,%r12,4) {%k1}
	addq	$16, %r12
	cmpq	%r10, %r12
	jl	.LBB0_12
	jmp	.LBB0_13
.LBB0_15:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_db89ae95aca790d5, .Lfunc_end0-halftone_db89ae95aca790d5

	.section	".note.GNU-stack","",@progbits

# 681918efcbf526baf56ba6e9553842d4464ec0c2aa2c8d5c0ee04f51eefe7d0a: matmul_f1d4ebe6e8ae088f
	.file	"kernel"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_1:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_2:
	.long	0x3b808081
.LCPI0_3:
	.long	0x3dcccccd
.LCPI0_4:
	.long	0x3a83126f
.LCPI0_5:
	.long	0x33d6bf95
	.text
	.globl	halftone_681918efcbf526ba
	.p2align	4
	.type	halftone_681918efcbf526ba,@function
halftone_681918efcbf526ba:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$264, %rsp
	movq	%rcx, -40(%rsp)
	movq	16(%rsi), %rcx
	movq	%rdx, %r9
	movq	(%rdi), %rdx
	movq	8(%rsi), %rax
	movq	(%rsi), %r10
	movq	24(%rsi), %r11
	movq	%r8, -64(%rsp)
	movq	56(%rdi), %r8
	movq	32(%rsi), %rsi
	movq	32(%rdi), %r12
	movq	%rcx, -16(%rsp)
	movq	8(%rdi), %rcx
	movq	%rdx, 104(%rsp)
	movq	16(%rdi), %rdx
	movq	%rax, -72(%rsp)
	leaq	-1(%r10,%r11), %rax
	movq	%r8, 64(%rsp)
	movq	%rcx, -48(%rsp)
	movq	24(%rdi), %rcx
	movq	%rdx, 96(%rsp)
	movq	48(%rdi), %rdx
	movq	%rcx, 88(%rsp)
	movq	%rax, %rcx
	orq	%r11, %rcx
	movq	%rdx, 72(%rsp)
	movq	64(%rdi), %rdx
	shrq	$32, %rcx
	movq	40(%rdi), %rcx
	movq	%rdx, 56(%rsp)
	movq	%rcx, 80(%rsp)
	je	.LBB0_1
	cqto
	idivq	%r11
	jmp	.LBB0_3
.LBB0_1:
	xorl	%edx, %edx
	divl	%r11d
.LBB0_3:
	movq	-72(%rsp), %rcx
	movq	%rax, 128(%rsp)
	leaq	-1(%rcx,%rsi), %rax
	movq	%rax, %rcx
	orq	%rsi, %rcx
	shrq	$32, %rcx
	je	.LBB0_4
	cqto
	idivq	%rsi
	movq	%rax, %rbx
	jmp	.LBB0_6
.LBB0_4:
	xorl	%edx, %edx
	divl	%esi
	movl	%eax, %ebx
.LBB0_6:
	leaq	31(%rsi), %rax
	leaq	62(%rsi), %rcx
	leaq	15(%r11), %rdx
	movq	%rsi, -80(%rsp)
	leaq	30(%r11), %rsi
	testq	%rax, %rax
	cmovnsq	%rax, %rcx
	testq	%rdx, %rdx
	cmovnsq	%rdx, %rsi
	cmpq	-40(%rsp), %r9
	jge	.LBB0_60
	movq	-64(%rsp), %r8
	sarq	$4, %rsi
	movq	%rcx, %r14
	sarq	$5, %r14
	vbroadcastss	.LCPI0_3(%rip), %zmm9
	vbroadcastss	.LCPI0_4(%rip), %zmm10
	vbroadcastss	.LCPI0_5(%rip), %zmm11
	vmovdqa64	.LCPI0_0(%rip), %zmm1
	vmovdqa64	.LCPI0_1(%rip), %zmm3
	vmovdqa64	.LCPI0_0(%rip), %zmm4
	vmovdqa64	.LCPI0_1(%rip), %zmm5
	addq	$64, -48(%rsp)
	andq	$-32, %rcx
	vxorps	%xmm0, %xmm0, %xmm0
	movq	%rbx, 112(%rsp)
	movq	%r10, -32(%rsp)
	movq	%r11, 120(%rsp)
	movq	%r12, 216(%rsp)
	movq	%rsi, %rax
	shlq	$14, %rax
	movq	%r14, %rdi
	shlq	$15, %rdi
	movq	%r14, %rbp
	shlq	$6, %rbp
	shlq	$6, %rsi
	movq	%r14, 240(%rsp)
	movq	%rbp, 232(%rsp)
	leaq	(%r8,%rax), %rdx
	leaq	64(%rax,%r8), %rax
	leaq	1024(%rdi,%rdx), %r13
	movq	%r14, %rdx
	shlq	$5, %rdx
	movq	%r10, %rdi
	shlq	$8, %rdi
	shlq	$7, %r14
	leaq	(%rdx,%rdx,2), %r15
	movq	-80(%rsp), %rdx
	movq	%rax, -24(%rsp)
	leaq	44(%r8), %rax
	movq	%rdi, 168(%rsp)
	movq	%r14, 24(%rsp)
	movq	%rax, 200(%rsp)
	leaq	12(%r8), %rax
	movq	%r13, 208(%rsp)
	movq	%rax, 40(%rsp)
	movq	%r11, %rax
	movq	%r15, 16(%rsp)
	leaq	(,%rdx,4), %rdx
	movq	%rdx, 48(%rsp)
	movq	-72(%rsp), %rdx
	movq	%rdx, %rdi
	shlq	$10, %rdi
	imulq	%rdx, %rax
	movq	%rdi, 160(%rsp)
	leaq	(,%rdx,4), %rdi
	movq	%rdi, -8(%rsp)
	movq	%rax, 32(%rsp)
	jmp	.LBB0_8
	.p2align	4
.LBB0_59:
	movq	152(%rsp), %r9
	movq	-32(%rsp), %r10
	movq	120(%rsp), %r11
	movq	112(%rsp), %rbx
	movq	16(%rsp), %r15
	vxorps	%xmm0, %xmm0, %xmm0
	incq	%r9
	cmpq	-40(%rsp), %r9
	jge	.LBB0_60
.LBB0_8:
	movq	%r9, %rax
	orq	%rbx, %rax
	shrq	$32, %rax
	je	.LBB0_9
	movq	%r9, %rax
	cqto
	idivq	%rbx
	movq	%rdx, -128(%rsp)
	jmp	.LBB0_11
	.p2align	4
.LBB0_9:
	movl	%r9d, %eax
	xorl	%edx, %edx
	divl	%ebx
	movq	%rdx, -128(%rsp)
.LBB0_11:
	movq	128(%rsp), %rbx
	movq	-80(%rsp), %r8
	movq	-16(%rsp), %rdi
	movq	%rax, %rdx
	orq	%rbx, %rdx
	shrq	$32, %rdx
	je	.LBB0_12
	cqto
	idivq	%rbx
	jmp	.LBB0_14
	.p2align	4
.LBB0_12:
	xorl	%edx, %edx
	divl	%ebx
.LBB0_14:
	movq	-128(%rsp), %rax
	movq	%rdx, 144(%rsp)
	imulq	%r11, %rdx
	movq	-72(%rsp), %rbx
	movq	%r10, %r14
	movq	%r9, 152(%rsp)
	subq	%rdx, %r14
	movq	%rdx, -112(%rsp)
	imulq	%r8, %rax
	cmpq	%r14, %r11
	cmovlq	%r11, %r14
	subq	%rax, %rbx
	movq	%rax, 136(%rsp)
	movq	%r14, %rax
	cmpq	%rbx, %r8
	cmovlq	%r8, %rbx
	imulq	%rcx, %rax
	testq	%rax, %rax
	jle	.LBB0_17
	xorl	%edx, %edx
	.p2align	4
.LBB0_16:
	vmovaps	%zmm0, (%r13,%rdx,4)
	addq	$16, %rdx
	cmpq	%rax, %rdx
	jl	.LBB0_16
.LBB0_17:
	movq	%r14, (%rsp)
	movq	%rbx, -56(%rsp)
	testq	%rdi, %rdi
	jle	.LBB0_53
	movq	-112(%rsp), %rax
	movabsq	$3074457345618258603, %rdx
	movq	-64(%rsp), %r9
	addq	104(%rsp), %rax
	movq	%rax, -112(%rsp)
	movq	%r14, %rax
	imulq	%rdx
	movq	%rdx, %rax
	shrq	$63, %rax
	shrq	%rdx
	addq	%rax, %rdx
	movq	%r14, %rax
	shlq	$2, %rdx
	leaq	(%rdx,%rdx,2), %rdx
	subq	%rdx, %rax
	movq	%rdx, -104(%rsp)
	leaq	3(%rax), %r8
	testq	%rax, %rax
	cmovnsq	%rax, %r8
	shlq	$2, %rax
	andq	$-4, %r8
	addq	%rdx, %r8
	movq	-128(%rsp), %rdx
	imulq	48(%rsp), %rdx
	movq	%r8, 8(%rsp)
	addq	-48(%rsp), %rdx
	movq	%rdx, -128(%rsp)
	movq	40(%rsp), %rdx
	leaq	(%rdx,%r14,4), %rdx
	subq	%rax, %rdx
	leaq	(%r9,%r8,4), %rax
	movq	%rdx, 192(%rsp)
	xorl	%edx, %edx
	movq	%rax, 184(%rsp)
	jmp	.LBB0_19
	.p2align	4
.LBB0_52:
	movq	-128(%rsp), %rdi
	movq	176(%rsp), %rdx
	movq	-112(%rsp), %rax
	addq	160(%rsp), %rdi
	addq	168(%rsp), %rax
	addq	$256, %rdx
	movq	%rdi, -128(%rsp)
	movq	-16(%rsp), %rdi
	movq	%rax, -112(%rsp)
	cmpq	%rdi, %rdx
	jge	.LBB0_53
.LBB0_19:
	vbroadcastss	.LCPI0_2(%rip), %zmm2
	subq	%rdx, %rdi
	movl	$256, %r11d
	movq	%rdx, 176(%rsp)
	cmpq	$256, %rdi
	movq	%rdi, -88(%rsp)
	cmovlq	%rdi, %r11
	testq	%rdi, %rdi
	jle	.LBB0_31
	movq	-112(%rsp), %rax
	movq	-64(%rsp), %rdx
	movq	-32(%rsp), %r10
	xorl	%edi, %edi
	jmp	.LBB0_21
	.p2align	4
.LBB0_24:
	incq	%rdi
	addq	%rsi, %rdx
	addq	%r10, %rax
	cmpq	%r11, %rdi
	jge	.LBB0_25
.LBB0_21:
	testq	%r14, %r14
	jle	.LBB0_24
	movq	%r14, %r8
	xorl	%r9d, %r9d
	.p2align	4
.LBB0_23:
	vpbroadcastq	%r8, %zmm0
	addq	$-16, %r8
	vpcmpgtq	%zmm1, %zmm0, %k0
	vpcmpgtq	%zmm3, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovdqu8	(%rax,%r9), %xmm0 {%k1} {z}
	vpmovzxbd	%xmm0, %zmm0
	vcvtdq2ps	%zmm0, %zmm0
	vmulps	%zmm2, %zmm0, %zmm0
	vmovaps	%zmm0, (%rdx,%r9,4)
	addq	$16, %r9
	cmpq	%r14, %r9
	jl	.LBB0_23
	jmp	.LBB0_24
	.p2align	4
.LBB0_25:
	cmpq	$0, -88(%rsp)
	jle	.LBB0_31
	movq	-24(%rsp), %rax
	movq	-128(%rsp), %rdx
	xorl	%edi, %edi
	jmp	.LBB0_27
	.p2align	4
.LBB0_30:
	addq	-8(%rsp), %rdx
	incq	%rdi
	subq	$-128, %rax
	cmpq	%r11, %rdi
	jge	.LBB0_31
.LBB0_27:
	testq	%rbx, %rbx
	jle	.LBB0_30
	movq	%rax, %r8
	movq	%rbx, %r9
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_29:
	vpbroadcastq	%r9, %zmm0
	leaq	-16(%r9), %rbx
	addq	$-32, %r9
	vpcmpgtq	%zmm4, %zmm0, %k0
	vpcmpgtq	%zmm5, %zmm0, %k1
	vpbroadcastq	%rbx, %zmm2
	movq	-56(%rsp), %rbx
	kunpckbw	%k0, %k1, %k1
	vpcmpgtq	%zmm4, %zmm2, %k0
	vmovups	-64(%rdx,%r10,4), %zmm0 {%k1} {z}
	vpcmpgtq	%zmm5, %zmm2, %k1
	kunpckbw	%k0, %k1, %k1
	vmovaps	%zmm0, -64(%r8)
	vmovups	(%rdx,%r10,4), %zmm0 {%k1} {z}
	addq	$32, %r10
	vmovaps	%zmm0, (%r8)
	addq	$32768, %r8
	cmpq	%rbx, %r10
	jl	.LBB0_29
	jmp	.LBB0_30
	.p2align	4
.LBB0_31:
	testq	%rbx, %rbx
	jle	.LBB0_52
	movq	-24(%rsp), %rax
	movq	%rax, -96(%rsp)
	xorl	%eax, %eax
	jmp	.LBB0_33
	.p2align	4
.LBB0_51:
	movq	224(%rsp), %rax
	addq	$32768, -96(%rsp)
	addq	$32, %rax
	cmpq	%rbx, %rax
	jge	.LBB0_52
.LBB0_33:
	cmpq	$0, -104(%rsp)
	movq	%rax, 224(%rsp)
	leaq	(%r13,%rax,4), %rax
	movq	%rax, -120(%rsp)
	jle	.LBB0_39
	movq	200(%rsp), %r8
	xorl	%ebx, %ebx
	jmp	.LBB0_35
	.p2align	4
.LBB0_38:
	movq	232(%rsp), %rbp
	movq	16(%rsp), %r15
	movq	256(%rsp), %r9
	vmovaps	%zmm9, (%rax)
	vmovaps	%zmm10, 64(%rax)
	vmovaps	%zmm11, (%rax,%rcx,4)
	vmovaps	%zmm12, 64(%rax,%rcx,4)
	addq	$12, %rbx
	addq	$48, %r8
	vmovaps	%zmm13, (%rax,%rbp,4)
	vmovaps	%zmm14, 64(%rax,%rbp,4)
	vmovaps	%zmm15, (%rax,%r15,4)
	vmovaps	%zmm16, 64(%rax,%r15,4)
	vmovaps	%zmm17, (%rax,%r12)
	vmovaps	%zmm18, 64(%rax,%r12)
	vmovaps	%zmm19, (%rax,%r9)
	vmovaps	%zmm20, 64(%rax,%r9)
	movq	248(%rsp), %r9
	vmovaps	%zmm21, (%rax,%r14)
	vmovaps	%zmm22, 64(%rax,%r14)
	vmovaps	%zmm23, (%rax,%r10)
	vmovaps	%zmm24, 64(%rax,%r10)
	vmovaps	%zmm25, (%rax,%r13)
	vmovaps	%zmm26, 64(%rax,%r13)
	vmovaps	%zmm27, (%rax,%r9)
	vmovaps	%zmm28, 64(%rax,%r9)
	vmovaps	%zmm29, (%rax,%rdi)
	vmovaps	%zmm30, 64(%rax,%rdi)
	vmovaps	%zmm31, (%rax,%rdx)
	vmovaps	%zmm0, 64(%rax,%rdx)
	cmpq	-104(%rsp), %rbx
	jge	.LBB0_39
.LBB0_35:
	movq	240(%rsp), %rax
	movq	-120(%rsp), %r14
	movq	%rbx, %rdi
	imulq	%rcx, %rdi
	movq	%rax, %r12
	movq	%rax, %r13
	movq	%rax, %r9
	imulq	$896, %rax, %r10
	imulq	$1408, %rax, %rdx
	leaq	(%r14,%rdi,4), %rax
	vmovaps	(%r14,%rdi,4), %zmm9
	vmovaps	64(%r14,%rdi,4), %zmm10
	movq	24(%rsp), %rdi
	shlq	$8, %r9
	shlq	$9, %r12
	shlq	$10, %r13
	cmpq	$0, -88(%rsp)
	leaq	(%r9,%r9,2), %r14
	vmovaps	(%rax,%r15,4), %zmm15
	vmovaps	64(%rax,%r15,4), %zmm16
	vmovaps	(%rax,%rcx,4), %zmm11
	vmovaps	64(%rax,%rcx,4), %zmm12
	vmovaps	(%rax,%rbp,4), %zmm13
	vmovaps	64(%rax,%rbp,4), %zmm14
	vmovaps	(%r12,%rax), %zmm17
	vmovaps	64(%r12,%rax), %zmm18
	vmovaps	(%r13,%rax), %zmm25
	vmovaps	64(%r13,%rax), %zmm26
	vmovaps	(%rax,%r14), %zmm21
	vmovaps	64(%rax,%r14), %zmm22
	vmovaps	(%r10,%rax), %zmm23
	vmovaps	64(%r10,%rax), %zmm24
	vmovaps	(%rdx,%rax), %zmm31
	vmovaps	64(%rdx,%rax), %zmm0
	leaq	(%rdi,%rdi,4), %r15
	vmovaps	(%rax,%r15), %zmm19
	movq	%r15, 256(%rsp)
	vmovaps	64(%rax,%r15), %zmm20
	leaq	(%rdi,%rdi,8), %r15
	leaq	(%r9,%r9,4), %rdi
	vmovaps	(%rax,%r15), %zmm27
	vmovaps	64(%rax,%r15), %zmm28
	vmovaps	(%rax,%rdi), %zmm29
	vmovaps	64(%rax,%rdi), %zmm30
	movq	%r15, 248(%rsp)
	jle	.LBB0_38
	movq	-96(%rsp), %rbp
	movq	%r8, %r15
	xorl	%r9d, %r9d
	.p2align	4
.LBB0_37:
	vbroadcastss	-44(%r15), %zmm8
	vbroadcastss	-32(%r15), %zmm2
	vmovaps	-64(%rbp), %zmm7
	vmovaps	(%rbp), %zmm6
	incq	%r9
	subq	$-128, %rbp
	vfmadd231ps	%zmm7, %zmm8, %zmm9
	vfmadd231ps	%zmm8, %zmm6, %zmm10
	vbroadcastss	-40(%r15), %zmm8
	vfmadd231ps	%zmm7, %zmm2, %zmm15
	vfmadd231ps	%zmm2, %zmm6, %zmm16
	vbroadcastss	-24(%r15), %zmm2
	vfmadd231ps	%zmm7, %zmm8, %zmm11
	vfmadd231ps	%zmm8, %zmm6, %zmm12
	vbroadcastss	-36(%r15), %zmm8
	vfmadd231ps	%zmm7, %zmm2, %zmm19
	vfmadd231ps	%zmm2, %zmm6, %zmm20
	vbroadcastss	-20(%r15), %zmm2
	vfmadd231ps	%zmm7, %zmm8, %zmm13
	vfmadd231ps	%zmm8, %zmm6, %zmm14
	vbroadcastss	-28(%r15), %zmm8
	vfmadd231ps	%zmm7, %zmm2, %zmm21
	vfmadd231ps	%zmm2, %zmm6, %zmm22
	vbroadcastss	-16(%r15), %zmm2
	vfmadd231ps	%zmm7, %zmm8, %zmm17
	vfmadd231ps	%zmm8, %zmm6, %zmm18
	vbroadcastss	-8(%r15), %zmm8
	vfmadd231ps	%zmm7, %zmm2, %zmm23
	vfmadd231ps	%zmm2, %zmm6, %zmm24
	vbroadcastss	-12(%r15), %zmm2
	vfmadd231ps	%zmm7, %zmm2, %zmm25
	vfmadd231ps	%zmm2, %zmm6, %zmm26
	vbroadcastss	-4(%r15), %zmm2
	vfmadd231ps	%zmm7, %zmm8, %zmm27
	vfmadd231ps	%zmm8, %zmm6, %zmm28
	vbroadcastss	(%r15), %zmm8
	addq	%rsi, %r15
	vfmadd231ps	%zmm7, %zmm2, %zmm29
	vfmadd231ps	%zmm2, %zmm6, %zmm30
	vfmadd231ps	%zmm7, %zmm8, %zmm31
	vfmadd231ps	%zmm6, %zmm8, %zmm0
	cmpq	%r11, %r9
	jl	.LBB0_37
	jmp	.LBB0_38
	.p2align	4
.LBB0_39:
	movq	8(%rsp), %r12
	movq	(%rsp), %r14
	movq	-56(%rsp), %rbx
	cmpq	%r12, -104(%rsp)
	jge	.LBB0_45
	movq	192(%rsp), %rax
	movq	-104(%rsp), %rdx
	jmp	.LBB0_41
	.p2align	4
.LBB0_44:
	addq	$4, %rdx
	addq	$16, %rax
	vmovaps	%zmm0, (%rdi)
	vmovaps	%zmm9, 64(%rdi)
	vmovaps	%zmm10, (%rdi,%rcx,4)
	vmovaps	%zmm11, 64(%rdi,%rcx,4)
	vmovaps	%zmm12, (%rdi,%rbp,4)
	vmovaps	%zmm13, 64(%rdi,%rbp,4)
	vmovaps	%zmm14, (%rdi,%r15,4)
	vmovaps	%zmm15, 64(%rdi,%r15,4)
	cmpq	%r12, %rdx
	jge	.LBB0_45
.LBB0_41:
	movq	-120(%rsp), %r9
	movq	%rdx, %r8
	imulq	%rcx, %r8
	cmpq	$0, -88(%rsp)
	leaq	(%r9,%r8,4), %rdi
	vmovaps	(%r9,%r8,4), %zmm0
	vmovaps	64(%r9,%r8,4), %zmm9
	vmovaps	(%rdi,%rcx,4), %zmm10
	vmovaps	64(%rdi,%rcx,4), %zmm11
	vmovaps	(%rdi,%rbp,4), %zmm12
	vmovaps	64(%rdi,%rbp,4), %zmm13
	vmovaps	(%rdi,%r15,4), %zmm14
	vmovaps	64(%rdi,%r15,4), %zmm15
	jle	.LBB0_44
	movq	-96(%rsp), %r8
	movq	%rax, %r9
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_43:
	vbroadcastss	-8(%r9), %zmm8
	vmovaps	-64(%r8), %zmm2
	vmovaps	(%r8), %zmm6
	vbroadcastss	-12(%r9), %zmm7
	vbroadcastss	-4(%r9), %zmm16
	incq	%r10
	subq	$-128, %r8
	vfmadd231ps	%zmm2, %zmm8, %zmm10
	vfmadd231ps	%zmm8, %zmm6, %zmm11
	vbroadcastss	(%r9), %zmm8
	vfmadd231ps	%zmm2, %zmm7, %zmm0
	vfmadd231ps	%zmm7, %zmm6, %zmm9
	vfmadd231ps	%zmm2, %zmm16, %zmm12
	vfmadd231ps	%zmm16, %zmm6, %zmm13
	addq	%rsi, %r9
	vfmadd231ps	%zmm2, %zmm8, %zmm14
	vfmadd231ps	%zmm6, %zmm8, %zmm15
	cmpq	%r11, %r10
	jl	.LBB0_43
	jmp	.LBB0_44
	.p2align	4
.LBB0_45:
	vbroadcastss	.LCPI0_3(%rip), %zmm9
	vbroadcastss	.LCPI0_4(%rip), %zmm10
	vbroadcastss	.LCPI0_5(%rip), %zmm11
	movq	208(%rsp), %r13
	movq	-120(%rsp), %r8
	cmpq	%r14, %r12
	movq	216(%rsp), %r12
	jge	.LBB0_51
	movq	184(%rsp), %rax
	movq	8(%rsp), %rdx
	jmp	.LBB0_47
	.p2align	4
.LBB0_50:
	movq	-120(%rsp), %r8
	incq	%rdx
	addq	$4, %rax
	vmovaps	%zmm0, (%r8,%rdi,4)
	vmovaps	%zmm6, 64(%r8,%rdi,4)
	cmpq	%r14, %rdx
	jge	.LBB0_51
.LBB0_47:
	movq	%rdx, %rdi
	imulq	%rcx, %rdi
	cmpq	$0, -88(%rsp)
	vmovaps	(%r8,%rdi,4), %zmm0
	vmovaps	64(%r8,%rdi,4), %zmm6
	jle	.LBB0_50
	movq	-96(%rsp), %r8
	movq	%rax, %r9
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_49:
	vbroadcastss	(%r9), %zmm2
	incq	%r10
	addq	%rsi, %r9
	vfmadd231ps	-64(%r8), %zmm2, %zmm0
	vfmadd231ps	(%r8), %zmm2, %zmm6
	subq	$-128, %r8
	cmpq	%r11, %r10
	jl	.LBB0_49
	jmp	.LBB0_50
	.p2align	4
.LBB0_53:
	testq	%r14, %r14
	jle	.LBB0_59
	movq	144(%rsp), %r11
	movq	56(%rsp), %rax
	movq	64(%rsp), %rdx
	movq	72(%rsp), %rdi
	movq	80(%rsp), %r8
	movq	88(%rsp), %r9
	movq	96(%rsp), %r10
	xorl	%ebx, %ebx
	imulq	32(%rsp), %r11
	addq	136(%rsp), %r11
	leaq	(%rax,%r11,4), %rax
	leaq	(%rdx,%r11,4), %rdx
	leaq	(%rdi,%r11,4), %rdi
	leaq	(%r8,%r11,4), %r8
	leaq	(%r9,%r11,4), %r9
	leaq	(%r10,%r11,4), %r10
	movq	%r13, %r11
	jmp	.LBB0_55
	.p2align	4
.LBB0_58:
	movq	-8(%rsp), %r14
	movq	-120(%rsp), %rbx
	addq	24(%rsp), %r11
	incq	%rbx
	addq	%r14, %rax
	addq	%r14, %rdx
	addq	%r14, %rdi
	addq	%r14, %r8
	addq	%r14, %r9
	addq	%r14, %r10
	cmpq	(%rsp), %rbx
	jge	.LBB0_59
.LBB0_55:
	movq	%rbx, -120(%rsp)
	movq	-56(%rsp), %rbx
	testq	%rbx, %rbx
	jle	.LBB0_58
	movq	%rbx, %r14
	xorl	%r15d, %r15d
	.p2align	4
.LBB0_57:
	vpbroadcastq	%r14, %zmm0
	vmovaps	(%r11,%r15,4), %zmm2
	addq	$-16, %r14
	vpcmpgtq	%zmm1, %zmm0, %k0
	vpcmpgtq	%zmm3, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%r10,%r15,4), %zmm0 {%k1} {z}
	vmovups	(%r9,%r15,4), %zmm6 {%k1} {z}
	vmovups	(%r8,%r15,4), %zmm7 {%k1} {z}
	vsubps	%zmm0, %zmm2, %zmm8
	vfmsub213ps	%zmm6, %zmm2, %zmm2
	vfmadd132ps	%zmm9, %zmm0, %zmm8
	vmulps	(%r12){1to16}, %zmm8, %zmm0
	vfmadd132ps	%zmm10, %zmm6, %zmm2
	vmovups	%zmm8, (%rdi,%r15,4) {%k1}
	vsqrtps	%zmm2, %zmm6
	vmovups	%zmm2, (%rdx,%r15,4) {%k1}
	vaddps	%zmm11, %zmm6, %zmm6
	vdivps	%zmm6, %zmm0, %zmm0
	vsubps	%zmm0, %zmm7, %zmm0
	vmovups	%zmm0, (%rax,%r15,4) {%k1}
	addq	$16, %r15
	cmpq	%rbx, %r15
	jl	.LBB0_57
	jmp	.LBB0_58
.LBB0_60:
	addq	$264, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_681918efcbf526ba, .Lfunc_end0-halftone_681918efcbf526ba

	.section	".note.GNU-stack","",@progbits

# 71848f731f842c545e0ef954b0f983c9e572b063d2a4c0c29c321bbaf8f4a3a2: loop_fe0b8420993b624b
	.file	"kernel"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_0:
	.long	0x3dcccccd
.LCPI0_1:
	.long	0x3a83126f
.LCPI0_2:
	.long	0x33d6bf95
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_3:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_4:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.text
	.globl	halftone_71848f731f842c54
	.p2align	4
	.type	halftone_71848f731f842c54,@function
halftone_71848f731f842c54:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	movq	%rcx, -48(%rsp)
	movq	(%rsi), %rax
	movq	8(%rsi), %rcx
	movq	16(%rsi), %rsi
	movq	(%rdi), %rbx
	movq	8(%rdi), %r14
	movq	16(%rdi), %r15
	movq	24(%rdi), %r12
	movq	32(%rdi), %r13
	movq	40(%rdi), %rbp
	movq	48(%rdi), %r10
	movq	56(%rdi), %rdi
	movq	%rdx, %r8
	movq	%rax, -16(%rsp)
	leaq	-1(%rsi,%rax), %rax
	movq	%rcx, -24(%rsp)
	movq	%rax, %rcx
	orq	%rsi, %rcx
	shrq	$32, %rcx
	je	.LBB0_1
	xorl	%edx, %edx
	divq	%rsi
	movq	%rax, %rcx
	cmpq	-48(%rsp), %r8
	jl	.LBB0_4
	jmp	.LBB0_15
.LBB0_1:
	xorl	%edx, %edx
	divl	%esi
	movl	%eax, %ecx
	cmpq	-48(%rsp), %r8
	jge	.LBB0_15
.LBB0_4:
	vbroadcastss	.LCPI0_0(%rip), %zmm0
	vbroadcastss	.LCPI0_1(%rip), %zmm1
	vbroadcastss	.LCPI0_2(%rip), %zmm2
	vmovdqa64	.LCPI0_3(%rip), %zmm3
	vmovdqa64	.LCPI0_4(%rip), %zmm4
	movq	%rcx, -40(%rsp)
	movq	%rsi, -32(%rsp)
	jmp	.LBB0_5
	.p2align	4
.LBB0_14:
	movq	-8(%rsp), %r8
	movq	-32(%rsp), %rsi
	movq	-40(%rsp), %rcx
	incq	%r8
	cmpq	-48(%rsp), %r8
	jge	.LBB0_15
.LBB0_5:
	movq	%r8, %rax
	orq	%rcx, %rax
	movq	%r8, -8(%rsp)
	shrq	$32, %rax
	je	.LBB0_6
	movq	%r8, %rax
	xorl	%edx, %edx
	divq	%rcx
	jmp	.LBB0_8
	.p2align	4
.LBB0_6:
	movl	%r8d, %eax
	xorl	%edx, %edx
	divl	%ecx
.LBB0_8:
	movq	-16(%rsp), %rcx
	imulq	%rsi, %rdx
	addq	%rdx, %rsi
	cmpq	%rsi, %rcx
	cmovlq	%rcx, %rsi
	movq	-24(%rsp), %rcx
	imulq	%rcx, %rax
	leaq	(%rax,%rcx), %r9
	movl	$1, %ecx
	testq	%r9, %r9
	cmovgq	%rcx, %r9
	cmpq	%r9, %rax
	jge	.LBB0_14
	movq	%rsi, %r8
	subq	%rdx, %r8
	andq	$-16, %r8
	addq	%rdx, %r8
	jmp	.LBB0_10
	.p2align	4
.LBB0_13:
	incq	%rax
	cmpq	%r9, %rax
	jge	.LBB0_14
.LBB0_10:
	movq	%rdx, %r11
	cmpq	%r8, %rdx
	jge	.LBB0_11
	.p2align	4
.LBB0_16:
	vmovups	(%r14,%r11,4), %zmm5
	vmovups	(%rbx,%r11,4), %zmm6
	vmovups	(%r15,%r11,4), %zmm7
	vmovups	(%r13,%r11,4), %zmm8
	vsubps	%zmm5, %zmm6, %zmm9
	vfmsub213ps	%zmm7, %zmm6, %zmm6
	vfmadd132ps	%zmm0, %zmm5, %zmm9
	vmulps	(%r12){1to16}, %zmm9, %zmm5
	vfmadd132ps	%zmm1, %zmm7, %zmm6
	vmovups	%zmm9, (%rbp,%r11,4)
	vsqrtps	%zmm6, %zmm7
	vmovups	%zmm6, (%r10,%r11,4)
	vaddps	%zmm2, %zmm7, %zmm7
	vdivps	%zmm7, %zmm5, %zmm5
	vsubps	%zmm5, %zmm8, %zmm5
	vmovups	%zmm5, (%rdi,%r11,4)
	addq	$16, %r11
	cmpq	%r8, %r11
	jl	.LBB0_16
.LBB0_11:
	movq	%r8, %r11
	cmpq	%rsi, %r8
	jge	.LBB0_13
	.p2align	4
.LBB0_12:
	movq	%rsi, %rcx
	subq	%r11, %rcx
	vpbroadcastq	%rcx, %zmm5
	vpcmpgtq	%zmm3, %zmm5, %k0
	vpcmpgtq	%zmm4, %zmm5, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%r14,%r11,4), %zmm5 {%k1} {z}
	vmovups	(%rbx,%r11,4), %zmm6 {%k1} {z}
	vmovups	(%r15,%r11,4), %zmm7 {%k1} {z}
	vmovups	(%r13,%r11,4), %zmm8 {%k1} {z}
	vsubps	%zmm5, %zmm6, %zmm9
	vfmsub213ps	%zmm7, %zmm6, %zmm6
	vfmadd132ps	%zmm0, %zmm5, %zmm9
	vmulps	(%r12){1to16}, %zmm9, %zmm5
	vfmadd132ps	%zmm1, %zmm7, %zmm6
	vmovups	%zmm9, (%rbp,%r11,4) {%k1}
	vsqrtps	%zmm6, %zmm7
	vmovups	%zmm6, (%r10,%r11,4) {%k1}
	vaddps	%zmm2, %zmm7, %zmm7
	vdivps	%zmm7, %zmm5, %zmm5
	vsubps	%zmm5, %zmm8, %zmm5
	vmovups	%zmm5, (%rdi,%r11,4) {%k1}
	addq	$16, %r11
	cmpq	%rsi, %r11
	jl	.LBB0_12
	jmp	.LBB0_13
.LBB0_15:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_71848f731f842c54, .Lfunc_end0-halftone_71848f731f842c54

	.section	".note.GNU-stack","",@progbits

# c1a7887bbae7839ca1e2bbe7fd615054e42ad9d976e6821ca0b7b7e72f12a638: matmul_1748f0f0f518c7c2
	.file	"kernel"
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
.LCPI0_0:
	.quad	0
	.quad	1
	.quad	2
	.quad	3
	.quad	4
	.quad	5
	.quad	6
	.quad	7
.LCPI0_1:
	.quad	8
	.quad	9
	.quad	10
	.quad	11
	.quad	12
	.quad	13
	.quad	14
	.quad	15
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0
.LCPI0_2:
	.long	0x3dcccccd
.LCPI0_3:
	.long	0x3a83126f
.LCPI0_4:
	.long	0x33d6bf95
	.text
	.globl	halftone_c1a7887bbae7839c
	.p2align	4
	.type	halftone_c1a7887bbae7839c,@function
halftone_c1a7887bbae7839c:
	pushq	%rbp
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$272, %rsp
	movq	%r8, -88(%rsp)
	movq	%rdx, %r8
	movq	16(%rsi), %rdx
	movq	8(%rsi), %r9
	movq	(%rdi), %r10
	movq	(%rsi), %rax
	movq	%rcx, -40(%rsp)
	movq	40(%rdi), %rcx
	movq	32(%rdi), %r12
	movq	%rdx, -24(%rsp)
	movq	8(%rdi), %rdx
	movq	%r9, -96(%rsp)
	movq	24(%rsi), %r9
	movq	%r10, 96(%rsp)
	movq	16(%rdi), %r10
	movq	%rax, -48(%rsp)
	movq	32(%rsi), %rsi
	movq	%rcx, 72(%rsp)
	movq	%rdx, -64(%rsp)
	movq	24(%rdi), %rdx
	leaq	-1(%rax,%r9), %rax
	movq	%r10, 88(%rsp)
	movq	%rax, %r10
	orq	%r9, %r10
	shrq	$32, %r10
	movq	56(%rdi), %r10
	movq	%rdx, 80(%rsp)
	movq	48(%rdi), %rdx
	movq	%r10, 56(%rsp)
	movq	%rdx, 64(%rsp)
	movq	64(%rdi), %rdx
	movq	%rdx, 48(%rsp)
	je	.LBB0_1
	cqto
	idivq	%r9
	movq	%rax, %rdi
	jmp	.LBB0_3
.LBB0_1:
	xorl	%edx, %edx
	divl	%r9d
	movl	%eax, %edi
.LBB0_3:
	movq	-96(%rsp), %rax
	leaq	-1(%rax,%rsi), %rax
	movq	%rax, %rcx
	orq	%rsi, %rcx
	shrq	$32, %rcx
	je	.LBB0_4
	cqto
	idivq	%rsi
	movq	%rax, %r10
	jmp	.LBB0_6
.LBB0_4:
	xorl	%edx, %edx
	divl	%esi
	movl	%eax, %r10d
.LBB0_6:
	leaq	31(%rsi), %rax
	leaq	62(%rsi), %rcx
	leaq	15(%r9), %rdx
	leaq	30(%r9), %r15
	movq	%rdi, 120(%rsp)
	testq	%rax, %rax
	cmovnsq	%rax, %rcx
	testq	%rdx, %rdx
	cmovnsq	%rdx, %r15
	cmpq	-40(%rsp), %r8
	jge	.LBB0_60
	movq	-88(%rsp), %rdi
	sarq	$4, %r15
	movq	%rcx, %r11
	sarq	$5, %r11
	movq	%rsi, -56(%rsp)
	vbroadcastss	.LCPI0_2(%rip), %zmm9
	vbroadcastss	.LCPI0_3(%rip), %zmm10
	vbroadcastss	.LCPI0_4(%rip), %zmm11
	vmovdqa64	.LCPI0_0(%rip), %zmm1
	vmovdqa64	.LCPI0_1(%rip), %zmm2
	vmovdqa64	.LCPI0_0(%rip), %zmm3
	vmovdqa64	.LCPI0_1(%rip), %zmm4
	addq	$64, -64(%rsp)
	andq	$-32, %rcx
	vxorps	%xmm0, %xmm0, %xmm0
	movq	%r9, 112(%rsp)
	movq	%r12, 216(%rsp)
	movq	%r10, 104(%rsp)
	movq	%r15, %rax
	shlq	$14, %rax
	movq	%r11, %rsi
	shlq	$15, %rsi
	movq	%r11, %r14
	shlq	$6, %r14
	shlq	$6, %r15
	movq	%r11, 248(%rsp)
	movq	%r14, (%rsp)
	leaq	(%rdi,%rax), %rdx
	leaq	64(%rax,%rdi), %rax
	leaq	1024(%rsi,%rdx), %r13
	movq	%r11, %rdx
	shlq	$5, %rdx
	movq	-56(%rsp), %rsi
	shlq	$7, %r11
	leaq	(%rdx,%rdx,2), %rdx
	movq	%rax, -32(%rsp)
	leaq	44(%rdi), %rax
	movq	%r11, 8(%rsp)
	movq	%rax, 200(%rsp)
	leaq	12(%rdi), %rax
	movq	%r13, 208(%rsp)
	movq	%rdx, 16(%rsp)
	movq	-48(%rsp), %rdx
	movq	%rax, 32(%rsp)
	movq	%r9, %rax
	movq	%rdx, %rbx
	leaq	(,%rdx,4), %rdx
	shlq	$10, %rbx
	movq	%rbx, 168(%rsp)
	leaq	(,%rsi,4), %rbx
	movq	%rdx, 152(%rsp)
	movq	-96(%rsp), %rdx
	movq	%rbx, 40(%rsp)
	imulq	%rdx, %rax
	leaq	(,%rdx,4), %rbp
	movq	%rdx, %rbx
	shlq	$10, %rbx
	movq	%rbx, 160(%rsp)
	movq	%rbp, -16(%rsp)
	movq	%rax, 24(%rsp)
	jmp	.LBB0_8
	.p2align	4
.LBB0_59:
	movq	144(%rsp), %r8
	movq	112(%rsp), %r9
	movq	-56(%rsp), %rsi
	movq	104(%rsp), %r10
	movq	(%rsp), %r14
	vxorps	%xmm0, %xmm0, %xmm0
	incq	%r8
	cmpq	-40(%rsp), %r8
	jge	.LBB0_60
.LBB0_8:
	movq	120(%rsp), %rdi
	movq	%r8, %rax
	orq	%r10, %rax
	shrq	$32, %rax
	je	.LBB0_9
	movq	%r8, %rax
	cqto
	idivq	%r10
	movq	%rdx, %r11
	jmp	.LBB0_11
	.p2align	4
.LBB0_9:
	movl	%r8d, %eax
	xorl	%edx, %edx
	divl	%r10d
	movl	%edx, %r11d
.LBB0_11:
	movq	%rax, %rdx
	orq	%rdi, %rdx
	shrq	$32, %rdx
	je	.LBB0_12
	cqto
	idivq	%rdi
	jmp	.LBB0_14
	.p2align	4
.LBB0_12:
	xorl	%edx, %edx
	divl	%edi
.LBB0_14:
	movq	-48(%rsp), %rbp
	movq	%rdx, %rax
	imulq	%r9, %rax
	movq	-96(%rsp), %rbx
	movq	%rdx, 136(%rsp)
	movq	%r11, %rdx
	imulq	%rsi, %rdx
	movq	%r8, 144(%rsp)
	movq	%rdx, 128(%rsp)
	subq	%rax, %rbp
	cmpq	%rbp, %r9
	cmovlq	%r9, %rbp
	subq	%rdx, %rbx
	cmpq	%rbx, %rsi
	movq	%rbp, %rdx
	cmovlq	%rsi, %rbx
	imulq	%rcx, %rdx
	testq	%rdx, %rdx
	jle	.LBB0_17
	xorl	%esi, %esi
	.p2align	4
.LBB0_16:
	vmovaps	%zmm0, (%r13,%rsi,4)
	addq	$16, %rsi
	cmpq	%rdx, %rsi
	jl	.LBB0_16
.LBB0_17:
	movq	-24(%rsp), %rsi
	testq	%rsi, %rsi
	jle	.LBB0_53
	movq	96(%rsp), %rdx
	movq	-88(%rsp), %r8
	movq	%rbp, 232(%rsp)
	movq	%rbx, 224(%rsp)
	leaq	(%rdx,%rax,4), %rax
	movabsq	$3074457345618258603, %rdx
	movq	%rax, -72(%rsp)
	movq	%rbp, %rax
	imulq	%rdx
	movq	%rdx, %rax
	shrq	$63, %rax
	shrq	%rdx
	addq	%rax, %rdx
	movq	%rbp, %rax
	shlq	$2, %rdx
	leaq	(%rdx,%rdx,2), %rdx
	subq	%rdx, %rax
	movq	%rdx, -120(%rsp)
	leaq	3(%rax), %rdi
	testq	%rax, %rax
	cmovnsq	%rax, %rdi
	imulq	40(%rsp), %r11
	shlq	$2, %rax
	andq	$-4, %rdi
	addq	%rdx, %rdi
	movq	32(%rsp), %rdx
	addq	-64(%rsp), %r11
	movq	%rdi, -8(%rsp)
	leaq	(%rdx,%rbp,4), %rdx
	movq	%r11, -80(%rsp)
	subq	%rax, %rdx
	leaq	(%r8,%rdi,4), %rax
	movq	%rdx, 192(%rsp)
	xorl	%edx, %edx
	movq	%rax, 184(%rsp)
	jmp	.LBB0_19
	.p2align	4
.LBB0_52:
	movq	-80(%rsp), %rsi
	movq	176(%rsp), %rdx
	movq	-72(%rsp), %rax
	addq	160(%rsp), %rsi
	addq	168(%rsp), %rax
	addq	$256, %rdx
	movq	%rsi, -80(%rsp)
	movq	-24(%rsp), %rsi
	movq	%rax, -72(%rsp)
	cmpq	%rsi, %rdx
	jge	.LBB0_53
.LBB0_19:
	subq	%rdx, %rsi
	movl	$256, %r8d
	movq	%rdx, 176(%rsp)
	cmpq	$256, %rsi
	movq	%rsi, -104(%rsp)
	cmovlq	%rsi, %r8
	testq	%rsi, %rsi
	jle	.LBB0_31
	movq	-72(%rsp), %rax
	movq	-88(%rsp), %rdx
	movq	152(%rsp), %r10
	xorl	%esi, %esi
	jmp	.LBB0_21
	.p2align	4
.LBB0_24:
	incq	%rsi
	addq	%r15, %rdx
	addq	%r10, %rax
	cmpq	%r8, %rsi
	jge	.LBB0_25
.LBB0_21:
	testq	%rbp, %rbp
	jle	.LBB0_24
	movq	%rbp, %rdi
	xorl	%r9d, %r9d
	.p2align	4
.LBB0_23:
	vpbroadcastq	%rdi, %zmm0
	addq	$-16, %rdi
	vpcmpgtq	%zmm1, %zmm0, %k0
	vpcmpgtq	%zmm2, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%rax,%r9,4), %zmm0 {%k1} {z}
	vmovaps	%zmm0, (%rdx,%r9,4)
	addq	$16, %r9
	cmpq	%rbp, %r9
	jl	.LBB0_23
	jmp	.LBB0_24
	.p2align	4
.LBB0_25:
	cmpq	$0, -104(%rsp)
	jle	.LBB0_31
	movq	-32(%rsp), %rax
	movq	-80(%rsp), %rdx
	xorl	%esi, %esi
	jmp	.LBB0_27
	.p2align	4
.LBB0_30:
	addq	-16(%rsp), %rdx
	incq	%rsi
	subq	$-128, %rax
	cmpq	%r8, %rsi
	jge	.LBB0_31
.LBB0_27:
	testq	%rbx, %rbx
	jle	.LBB0_30
	movq	%rax, %rdi
	movq	%rbx, %r9
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_29:
	vpbroadcastq	%r9, %zmm0
	leaq	-16(%r9), %r11
	addq	$-32, %r9
	vpcmpgtq	%zmm3, %zmm0, %k0
	vpcmpgtq	%zmm4, %zmm0, %k1
	vpbroadcastq	%r11, %zmm5
	kunpckbw	%k0, %k1, %k1
	vpcmpgtq	%zmm3, %zmm5, %k0
	vmovups	-64(%rdx,%r10,4), %zmm0 {%k1} {z}
	vpcmpgtq	%zmm4, %zmm5, %k1
	kunpckbw	%k0, %k1, %k1
	vmovaps	%zmm0, -64(%rdi)
	vmovups	(%rdx,%r10,4), %zmm0 {%k1} {z}
	addq	$32, %r10
	vmovaps	%zmm0, (%rdi)
	addq	$32768, %rdi
	cmpq	%rbx, %r10
	jl	.LBB0_29
	jmp	.LBB0_30
	.p2align	4
.LBB0_31:
	movq	16(%rsp), %r11
	testq	%rbx, %rbx
	jle	.LBB0_52
	movq	-32(%rsp), %rax
	movq	%rax, -112(%rsp)
	xorl	%eax, %eax
	jmp	.LBB0_33
	.p2align	4
.LBB0_51:
	movq	240(%rsp), %rax
	addq	$32768, -112(%rsp)
	addq	$32, %rax
	cmpq	%rbx, %rax
	jge	.LBB0_52
.LBB0_33:
	cmpq	$0, -120(%rsp)
	movq	%rax, 240(%rsp)
	leaq	(%r13,%rax,4), %rax
	movq	%rax, -128(%rsp)
	jle	.LBB0_39
	movq	200(%rsp), %rbx
	xorl	%r9d, %r9d
	jmp	.LBB0_35
	.p2align	4
.LBB0_38:
	movq	(%rsp), %r14
	movq	16(%rsp), %rdi
	vmovaps	%zmm8, (%rax)
	vmovaps	%zmm9, 64(%rax)
	vmovaps	%zmm10, (%rax,%rcx,4)
	vmovaps	%zmm11, 64(%rax,%rcx,4)
	addq	$12, %r9
	addq	$48, %rbx
	vmovaps	%zmm12, (%rax,%r14,4)
	vmovaps	%zmm13, 64(%rax,%r14,4)
	vmovaps	%zmm14, (%rax,%rdi,4)
	vmovaps	%zmm15, 64(%rax,%rdi,4)
	vmovaps	%zmm16, (%rax,%r12)
	vmovaps	%zmm17, 64(%rax,%r12)
	movq	264(%rsp), %r12
	vmovaps	%zmm18, (%rax,%r12)
	vmovaps	%zmm19, 64(%rax,%r12)
	vmovaps	%zmm20, (%rax,%r11)
	vmovaps	%zmm21, 64(%rax,%r11)
	movq	%rdi, %r11
	movq	256(%rsp), %rdi
	vmovaps	%zmm22, (%rax,%r10)
	vmovaps	%zmm23, 64(%rax,%r10)
	vmovaps	%zmm24, (%rax,%rbp)
	vmovaps	%zmm25, 64(%rax,%rbp)
	vmovaps	%zmm26, (%rax,%rdi)
	vmovaps	%zmm27, 64(%rax,%rdi)
	vmovaps	%zmm28, (%rax,%rsi)
	vmovaps	%zmm29, 64(%rax,%rsi)
	vmovaps	%zmm30, (%rax,%rdx)
	vmovaps	%zmm31, 64(%rax,%rdx)
	cmpq	-120(%rsp), %r9
	jge	.LBB0_39
.LBB0_35:
	movq	248(%rsp), %rax
	movq	-128(%rsp), %r13
	movq	%r9, %rsi
	imulq	%rcx, %rsi
	movq	%rax, %r12
	movq	%rax, %rbp
	movq	%rax, %rdi
	imulq	$896, %rax, %r10
	imulq	$1408, %rax, %rdx
	leaq	(%r13,%rsi,4), %rax
	vmovaps	(%r13,%rsi,4), %zmm8
	vmovaps	64(%r13,%rsi,4), %zmm9
	movq	8(%rsp), %rsi
	shlq	$8, %rdi
	shlq	$9, %r12
	shlq	$10, %rbp
	cmpq	$0, -104(%rsp)
	vmovaps	(%rax,%r14,4), %zmm12
	vmovaps	64(%rax,%r14,4), %zmm13
	vmovaps	(%rax,%r11,4), %zmm14
	vmovaps	64(%rax,%r11,4), %zmm15
	leaq	(%rdi,%rdi,2), %r11
	vmovaps	(%rax,%rcx,4), %zmm10
	vmovaps	64(%rax,%rcx,4), %zmm11
	vmovaps	(%r12,%rax), %zmm16
	vmovaps	64(%r12,%rax), %zmm17
	vmovaps	(%rbp,%rax), %zmm24
	vmovaps	64(%rbp,%rax), %zmm25
	vmovaps	(%r10,%rax), %zmm22
	vmovaps	64(%r10,%rax), %zmm23
	vmovaps	(%rdx,%rax), %zmm30
	vmovaps	64(%rdx,%rax), %zmm31
	vmovaps	(%rax,%r11), %zmm20
	vmovaps	64(%rax,%r11), %zmm21
	leaq	(%rsi,%rsi,4), %r14
	vmovaps	(%rax,%r14), %zmm18
	movq	%r14, 264(%rsp)
	vmovaps	64(%rax,%r14), %zmm19
	leaq	(%rsi,%rsi,8), %r14
	leaq	(%rdi,%rdi,4), %rsi
	vmovaps	(%rax,%r14), %zmm26
	vmovaps	64(%rax,%r14), %zmm27
	vmovaps	(%rax,%rsi), %zmm28
	vmovaps	64(%rax,%rsi), %zmm29
	movq	%r14, 256(%rsp)
	jle	.LBB0_38
	movq	-112(%rsp), %rdi
	movq	%rbx, %r14
	xorl	%r13d, %r13d
	.p2align	4
.LBB0_37:
	vbroadcastss	-44(%r14), %zmm6
	vmovaps	-64(%rdi), %zmm5
	vmovaps	(%rdi), %zmm0
	vbroadcastss	-32(%r14), %zmm7
	incq	%r13
	subq	$-128, %rdi
	vfmadd231ps	%zmm5, %zmm6, %zmm8
	vfmadd231ps	%zmm6, %zmm0, %zmm9
	vbroadcastss	-40(%r14), %zmm6
	vfmadd231ps	%zmm5, %zmm7, %zmm14
	vfmadd231ps	%zmm7, %zmm0, %zmm15
	vbroadcastss	-8(%r14), %zmm7
	vfmadd231ps	%zmm5, %zmm6, %zmm10
	vfmadd231ps	%zmm6, %zmm0, %zmm11
	vbroadcastss	-36(%r14), %zmm6
	vfmadd231ps	%zmm5, %zmm7, %zmm26
	vfmadd231ps	%zmm7, %zmm0, %zmm27
	vbroadcastss	(%r14), %zmm7
	vfmadd231ps	%zmm5, %zmm6, %zmm12
	vfmadd231ps	%zmm6, %zmm0, %zmm13
	vbroadcastss	-28(%r14), %zmm6
	vfmadd231ps	%zmm5, %zmm7, %zmm30
	vfmadd231ps	%zmm0, %zmm7, %zmm31
	vfmadd231ps	%zmm5, %zmm6, %zmm16
	vfmadd231ps	%zmm6, %zmm0, %zmm17
	vbroadcastss	-24(%r14), %zmm6
	vfmadd231ps	%zmm5, %zmm6, %zmm18
	vfmadd231ps	%zmm6, %zmm0, %zmm19
	vbroadcastss	-20(%r14), %zmm6
	vfmadd231ps	%zmm5, %zmm6, %zmm20
	vfmadd231ps	%zmm6, %zmm0, %zmm21
	vbroadcastss	-16(%r14), %zmm6
	vfmadd231ps	%zmm5, %zmm6, %zmm22
	vfmadd231ps	%zmm6, %zmm0, %zmm23
	vbroadcastss	-12(%r14), %zmm6
	vfmadd231ps	%zmm5, %zmm6, %zmm24
	vfmadd231ps	%zmm6, %zmm0, %zmm25
	vbroadcastss	-4(%r14), %zmm6
	addq	%r15, %r14
	vfmadd231ps	%zmm5, %zmm6, %zmm28
	vfmadd231ps	%zmm6, %zmm0, %zmm29
	cmpq	%r8, %r13
	jl	.LBB0_37
	jmp	.LBB0_38
	.p2align	4
.LBB0_39:
	movq	-8(%rsp), %r12
	movq	208(%rsp), %r13
	movq	232(%rsp), %rbp
	movq	224(%rsp), %rbx
	cmpq	%r12, -120(%rsp)
	jge	.LBB0_45
	movq	192(%rsp), %rax
	movq	-120(%rsp), %rdx
	jmp	.LBB0_41
	.p2align	4
.LBB0_44:
	addq	$4, %rdx
	addq	$16, %rax
	vmovaps	%zmm8, (%rsi)
	vmovaps	%zmm9, 64(%rsi)
	vmovaps	%zmm10, (%rsi,%rcx,4)
	vmovaps	%zmm11, 64(%rsi,%rcx,4)
	vmovaps	%zmm12, (%rsi,%r14,4)
	vmovaps	%zmm13, 64(%rsi,%r14,4)
	vmovaps	%zmm14, (%rsi,%r11,4)
	vmovaps	%zmm15, 64(%rsi,%r11,4)
	cmpq	%r12, %rdx
	jge	.LBB0_45
.LBB0_41:
	movq	-128(%rsp), %r9
	movq	%rdx, %rdi
	imulq	%rcx, %rdi
	cmpq	$0, -104(%rsp)
	leaq	(%r9,%rdi,4), %rsi
	vmovaps	(%r9,%rdi,4), %zmm8
	vmovaps	64(%r9,%rdi,4), %zmm9
	vmovaps	(%rsi,%rcx,4), %zmm10
	vmovaps	64(%rsi,%rcx,4), %zmm11
	vmovaps	(%rsi,%r14,4), %zmm12
	vmovaps	64(%rsi,%r14,4), %zmm13
	vmovaps	(%rsi,%r11,4), %zmm14
	vmovaps	64(%rsi,%r11,4), %zmm15
	jle	.LBB0_44
	movq	-112(%rsp), %rdi
	movq	%rax, %r9
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_43:
	vbroadcastss	-8(%r9), %zmm7
	vmovaps	-64(%rdi), %zmm0
	vmovaps	(%rdi), %zmm5
	vbroadcastss	-12(%r9), %zmm6
	vbroadcastss	-4(%r9), %zmm16
	incq	%r10
	subq	$-128, %rdi
	vfmadd231ps	%zmm0, %zmm7, %zmm10
	vfmadd231ps	%zmm7, %zmm5, %zmm11
	vbroadcastss	(%r9), %zmm7
	vfmadd231ps	%zmm0, %zmm6, %zmm8
	vfmadd231ps	%zmm6, %zmm5, %zmm9
	vfmadd231ps	%zmm0, %zmm16, %zmm12
	vfmadd231ps	%zmm16, %zmm5, %zmm13
	addq	%r15, %r9
	vfmadd231ps	%zmm0, %zmm7, %zmm14
	vfmadd231ps	%zmm5, %zmm7, %zmm15
	cmpq	%r8, %r10
	jl	.LBB0_43
	jmp	.LBB0_44
	.p2align	4
.LBB0_45:
	vbroadcastss	.LCPI0_2(%rip), %zmm9
	vbroadcastss	.LCPI0_3(%rip), %zmm10
	vbroadcastss	.LCPI0_4(%rip), %zmm11
	movq	-128(%rsp), %rdi
	cmpq	%rbp, %r12
	movq	216(%rsp), %r12
	jge	.LBB0_51
	movq	184(%rsp), %rax
	movq	-8(%rsp), %rdx
	jmp	.LBB0_47
	.p2align	4
.LBB0_50:
	movq	-128(%rsp), %rdi
	incq	%rdx
	addq	$4, %rax
	vmovaps	%zmm0, (%rdi,%rsi,4)
	vmovaps	%zmm5, 64(%rdi,%rsi,4)
	cmpq	%rbp, %rdx
	jge	.LBB0_51
.LBB0_47:
	movq	%rdx, %rsi
	imulq	%rcx, %rsi
	cmpq	$0, -104(%rsp)
	vmovaps	(%rdi,%rsi,4), %zmm0
	vmovaps	64(%rdi,%rsi,4), %zmm5
	jle	.LBB0_50
	movq	-112(%rsp), %rdi
	movq	%rax, %r9
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_49:
	vbroadcastss	(%r9), %zmm6
	incq	%r10
	addq	%r15, %r9
	vfmadd231ps	-64(%rdi), %zmm6, %zmm0
	vfmadd231ps	(%rdi), %zmm6, %zmm5
	subq	$-128, %rdi
	cmpq	%r8, %r10
	jl	.LBB0_49
	jmp	.LBB0_50
	.p2align	4
.LBB0_53:
	testq	%rbp, %rbp
	jle	.LBB0_59
	movq	136(%rsp), %r10
	movq	48(%rsp), %rax
	movq	56(%rsp), %rdx
	movq	64(%rsp), %rsi
	movq	72(%rsp), %rdi
	movq	80(%rsp), %r8
	movq	88(%rsp), %r9
	xorl	%r14d, %r14d
	imulq	24(%rsp), %r10
	addq	128(%rsp), %r10
	leaq	(%rax,%r10,4), %rax
	leaq	(%rdx,%r10,4), %rdx
	leaq	(%rsi,%r10,4), %rsi
	leaq	(%rdi,%r10,4), %rdi
	leaq	(%r8,%r10,4), %r8
	leaq	(%r9,%r10,4), %r9
	movq	%r13, %r10
	jmp	.LBB0_55
	.p2align	4
.LBB0_58:
	movq	-16(%rsp), %rbx
	movq	-128(%rsp), %r14
	addq	8(%rsp), %r10
	incq	%r14
	addq	%rbx, %rax
	addq	%rbx, %rdx
	addq	%rbx, %rsi
	addq	%rbx, %rdi
	addq	%rbx, %r8
	addq	%rbx, %r9
	movq	%r11, %rbx
	cmpq	%rbp, %r14
	jge	.LBB0_59
.LBB0_55:
	movq	%r14, -128(%rsp)
	movq	%rbx, %r11
	testq	%rbx, %rbx
	jle	.LBB0_58
	movq	%r11, %rbx
	xorl	%r14d, %r14d
	.p2align	4
.LBB0_57:
	vpbroadcastq	%rbx, %zmm0
	vmovaps	(%r10,%r14,4), %zmm5
	addq	$-16, %rbx
	vpcmpgtq	%zmm1, %zmm0, %k0
	vpcmpgtq	%zmm2, %zmm0, %k1
	kunpckbw	%k0, %k1, %k1
	vmovups	(%r9,%r14,4), %zmm0 {%k1} {z}
	vmovups	(%r8,%r14,4), %zmm6 {%k1} {z}
	vmovups	(%rdi,%r14,4), %zmm7 {%k1} {z}
	vsubps	%zmm0, %zmm5, %zmm8
	vfmsub213ps	%zmm6, %zmm5, %zmm5
	vfmadd132ps	%zmm9, %zmm0, %zmm8
	vmulps	(%r12){1to16}, %zmm8, %zmm0
	vfmadd132ps	%zmm10, %zmm6, %zmm5
	vmovups	%zmm8, (%rsi,%r14,4) {%k1}
	vsqrtps	%zmm5, %zmm6
	vmovups	%zmm5, (%rdx,%r14,4) {%k1}
	vaddps	%zmm11, %zmm6, %zmm6
	vdivps	%zmm6, %zmm0, %zmm0
	vsubps	%zmm0, %zmm7, %zmm0
	vmovups	%zmm0, (%rax,%r14,4) {%k1}
	addq	$16, %r14
	cmpq	%r11, %r14
	jl	.LBB0_57
	jmp	.LBB0_58
.LBB0_60:
	addq	$272, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	vzeroupper
	retq
.Lfunc_end0:
	.size	halftone_c1a7887bbae7839c, .Lfunc_end0-halftone_c1a7887bbae7839c

	.section	".note.GNU-stack","",@progbits

